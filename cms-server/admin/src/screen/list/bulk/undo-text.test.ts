import { expect, it } from 'vitest';
import { networkProblem } from '../../../api/problem';
import { undoText } from './undo-text';

const used = { ...networkProblem(), status: 400, message: 'slug: This value is already used' };

it.each([
  [{ undone: 2 }, 'Undone.'],
  [
    { undone: 1, inTrash: [{ id: 'a', objectTitle: 'First', problem: used }] },
    'Undone for 1 object. 1 object stays in the trash: “First” (slug: This value is already used)',
  ],
  [
    {
      undone: 0,
      inTrash: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, objectTitle: '', problem: networkProblem() })),
    },
    'Undone for 0 objects. 5 objects stay in the trash: “a” (The server cannot be reached.) “b” (The server cannot be reached.) “c” (The server cannot be reached.) … and 2 more',
  ],
  [{ undone: 1, gone: 1 }, 'Undone for 1 object. 1 object is no longer in the trash.'],
  [
    { undone: 1, problem: networkProblem() },
    'Undone for 1 object. It is unknown whether this was undone for others too: no response arrived. The server cannot be reached.',
  ],
])('reports what an undo did: %j', (result, text) => {
  expect(undoText({ skipped: 0, problem: null, ...result })).toBe(text);
});
