// Workflows: states and transitions.
import { plural } from '../format';

export const workflows = {
  about:
    'States that objects pass through. If one is called public, readers see only objects in it. A content type names its workflow.',
  create: 'New workflow',
  createTitle: 'New workflow',
  edit: 'Edit',
  editOf: (name: string) => `Edit ${name}`,
  editTitle: (name: string) => `Edit ${name}`,
  delete: 'Delete…',
  deleteOf: (name: string) => `Delete ${name}…`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteHelp: 'This cannot be undone. A workflow that a content type uses cannot be deleted.',
  builtIn: 'built in',
  states: 'States',
  initial: 'initial',
  transitions: 'Transitions',
  transition: 'Transition',
  from: 'From',
  to: 'To',
  noTransitions: 'No transitions.',
  usedByCount: (count: string) => `Used by ${count} content types`,
  usedBy: 'Used by',
  unused: 'No content type uses it.',
  definition: 'Definition',
  form: 'Form',
  name: 'Name',
  id: 'Id',
  diagram: 'Diagram of the workflow',
  step: (from: string, to: string) => `${from} → ${to}`,
  state: (number: number) => `State ${String(number)}`,
  statesHelp:
    'Readers see objects in the state “public”; a state that objects are in cannot be removed or renamed.',
  addState: 'Add state',
  transitionsHelp: 'Each transition is a button on objects in its start state, in this order.',
  transitionCount: (count: number) =>
    plural(count, { one: '1 transition', other: `${String(count)} transitions` }),
  addTransition: 'Add transition',
  endOf: (end: string, number: number) => `${end}, transition ${String(number)}`,
  textOnly: 'The form cannot show this definition: states are texts, and transitions join two of them.',
  definitionHelp:
    'JSON. The state “public” is the one that readers see. A state that objects are in cannot be removed.',
  notJson: 'This is not a JSON object.',
  save: 'Save',
  replaced:
    'Somebody else has changed this workflow since you opened it. Save again to replace their changes, or cancel and open it again to see them.',
  saved: (name: string) => `${name} is saved.`,
  deleted: (name: string) => `${name} is deleted.`,
  line: (line: number) => `Line ${String(line)}`,
};
