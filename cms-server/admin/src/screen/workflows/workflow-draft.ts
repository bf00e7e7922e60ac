// A workflow while it is edited: states have keys, so that transitions follow a state that is renamed.
import type { Workflow } from '../../object/workflows';
import { isRecord } from '../../value/record';
import { uuid } from '../../value/uuid';

export interface StateDraft {
  key: string;
  name: string;
}

export interface TransitionDraft {
  key: string;
  /** Keys of states. */
  from: string;
  to: string;
}

export interface WorkflowDraft {
  id: string;
  name: string;
  /** Key of the initial state. */
  initial: string;
  states: StateDraft[];
  transitions: TransitionDraft[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads a definition that may come from a text; null when the form cannot show all of it. */
export function readWorkflow(value: unknown): WorkflowDraft | null {
  if (!isRecord(value) || !Array.isArray(value.states) || !value.states.every(isText)) return null;
  const { id = '', name = id, transitions = [] } = value;
  if (!isText(id) || !isText(name) || !Array.isArray(transitions)) return null;
  const states = value.states.map((state) => ({ key: uuid(), name: state }));
  const keyOf = (state: unknown) => states.find((known) => known.name === state)?.key;
  const read = transitions.map((one: unknown): TransitionDraft | null => {
    if (!isRecord(one) || !Array.isArray(one.froms) || !Array.isArray(one.tos)) return null;
    const [from, to] = [keyOf(one.froms[0]), keyOf(one.tos[0])];
    if (one.froms.length !== 1 || one.tos.length !== 1 || from === undefined || to === undefined) return null;
    return { key: uuid(), from, to };
  });
  const known = read.filter((transition) => transition !== null);
  const initial = value.initial_state === undefined ? states[0]?.key : keyOf(value.initial_state);
  if (known.length !== read.length || (initial === undefined && states.length > 0)) return null;
  return { id, name, initial: initial ?? '', states, transitions: known };
}

/** The definition, as the API takes it. */
export function writeWorkflow({ id, name, initial, states, transitions }: WorkflowDraft): Workflow {
  const nameOf = (key: string) => states.find((state) => state.key === key)?.name ?? '';
  return {
    id,
    name,
    initial_state: nameOf(initial),
    states: states.map((state) => state.name),
    transitions: transitions.map(({ from, to }) => ({
      name: `_${nameOf(from)}_${nameOf(to)}`,
      froms: [nameOf(from)],
      tos: [nameOf(to)],
    })),
  };
}

/** Removes a state and its transitions; if it was initial, the first of the other states becomes initial. */
export function withoutState(draft: WorkflowDraft, key: string): WorkflowDraft {
  const states = draft.states.filter((state) => state.key !== key);
  return {
    ...draft,
    states,
    initial: draft.initial === key ? (states[0]?.key ?? '') : draft.initial,
    transitions: draft.transitions.filter(({ from, to }) => from !== key && to !== key),
  };
}

/** Adds a state at the end, and a transition to it from the state before it. */
export function withState(draft: WorkflowDraft): WorkflowDraft {
  const state = { key: uuid(), name: '' };
  const before = draft.states.at(-1);
  return {
    ...draft,
    states: [...draft.states, state],
    initial: draft.initial === '' ? state.key : draft.initial,
    transitions: before
      ? [...draft.transitions, { key: uuid(), from: before.key, to: state.key }]
      : draft.transitions,
  };
}

/** The first transition between two states that does not exist yet; null if all exist. */
export function freeTransition({ states, transitions }: WorkflowDraft): TransitionDraft | null {
  const isThere = (from: string, to: string) => transitions.some((one) => one.from === from && one.to === to);
  for (const from of states)
    for (const to of states)
      if (from !== to && !isThere(from.key, to.key)) return { key: uuid(), from: from.key, to: to.key };
  return null;
}

/** An id from a name: letters, digits, `-` and `_`. */
export function idFrom(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}
