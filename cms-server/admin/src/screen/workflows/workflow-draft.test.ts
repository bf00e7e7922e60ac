// Workflows while they are edited.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Workflow } from '../../object/workflows';
import { layoutOf } from './diagram-layout';
import {
  freeTransition,
  idFrom,
  readWorkflow,
  withoutState,
  withState,
  writeWorkflow,
} from './workflow-draft';

const REVIEW: Workflow = {
  id: 'review',
  name: 'Review',
  initial_state: 'draft',
  states: ['draft', 'review', 'public'],
  transitions: [
    { name: '_draft_review', froms: ['draft'], tos: ['review'] },
    { name: '_review_draft', froms: ['review'], tos: ['draft'] },
    { name: '_review_public', froms: ['review'], tos: ['public'] },
  ],
};

function read(value: unknown) {
  const draft = readWorkflow(value);
  if (!draft) throw new Error('not read');
  return draft;
}

test('reading and writing without an edit gives the same workflow', () => {
  const workflows = fc
    .uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 })
    .chain((states) =>
      fc.record({
        states: fc.constant(states),
        initial: fc.constantFrom(...states),
        pairs: fc.uniqueArray(fc.tuple(fc.constantFrom(...states), fc.constantFrom(...states)), {
          selector: (pair) => pair.join(' '),
        }),
      }),
    );
  fc.assert(
    fc.property(workflows, ({ states, initial, pairs }) => {
      const workflow: Workflow = {
        id: 'x',
        name: 'X',
        initial_state: initial,
        states,
        transitions: pairs.map(([from, to]) => ({ name: `_${from}_${to}`, froms: [from], tos: [to] })),
      };
      expect(writeWorkflow(read(workflow))).toEqual(workflow);
      const { width, height, boxes, arrows } = layoutOf(workflow);
      expect(arrows.length).toBe(pairs.length);
      expect(boxes.every(({ x, y }) => x >= 0 && x < width && y >= 0 && y < height)).toBe(true);
    }),
  );
});

test('a definition that the form cannot show stays a text', () => {
  expect(readWorkflow(null)).toBeNull();
  expect(readWorkflow({ states: [1] })).toBeNull();
  expect(readWorkflow({ ...REVIEW, initial_state: 'gone' })).toBeNull();
  expect(
    readWorkflow({ ...REVIEW, transitions: [{ froms: ['draft', 'review'], tos: ['public'] }] }),
  ).toBeNull();
  expect(readWorkflow({ ...REVIEW, transitions: [{ froms: ['draft'], tos: ['gone'] }] })).toBeNull();
});

test('transitions follow a renamed state, and are removed with a removed state', () => {
  const draft = read(REVIEW);
  const renamed = {
    ...draft,
    states: draft.states.map((state) => ({ ...state, name: state.name.toUpperCase() })),
  };
  expect(writeWorkflow(renamed).transitions[0]).toEqual({
    name: '_DRAFT_REVIEW',
    froms: ['DRAFT'],
    tos: ['REVIEW'],
  });
  const [first] = draft.states;
  const remaining = writeWorkflow(withoutState(draft, first?.key ?? ''));
  expect(remaining).toMatchObject({ initial_state: 'review', states: ['review', 'public'] });
  expect(remaining.transitions.map(({ name }) => name)).toEqual(['_review_public']);
});

test('a new state has a transition from the last one, and a new transition is a new pair', () => {
  const draft = withState(read(REVIEW));
  expect(writeWorkflow(draft).transitions.at(-1)).toMatchObject({ froms: ['public'] });
  const free = freeTransition(read(REVIEW));
  expect(free).not.toBeNull();
  expect(freeTransition(read({ id: 'x', states: ['a'] }))).toBeNull();
  expect(idFrom('Legal & Übersetzung')).toBe('legal_u_bersetzung');
});
