import { expect, it } from 'vitest';
import { waitingStates } from './home';

const publishing = {
  id: 'publishing',
  name: 'publishing',
  initial_state: 'draft',
  states: ['draft', 'review', 'public', 'archive'],
  transitions: [
    { name: '_draft_draft', froms: ['draft'], tos: ['draft'] },
    { name: '_draft_review', froms: ['draft'], tos: ['review'] },
    { name: '_review_public', froms: ['review'], tos: ['public'] },
    { name: '_public_archive', froms: ['public'], tos: ['archive'] },
  ],
};

it('states wait for a user only if the user may move objects out of them', () => {
  expect(waitingStates(publishing, true)).toEqual(['review']);
  expect(waitingStates(publishing, false)).toEqual([]);
});
