// The order of the list of users, as its address has it.
import { expect, test } from 'vitest';
import { parseUserOrder } from './users';

test('the order of users is by name unless the address has another one', () => {
  expect(parseUserOrder(null)).toEqual({ by: 'name', descending: false });
  expect(parseUserOrder('role')).toEqual({ by: 'role', descending: false });
  expect(parseUserOrder('-lastSeenAt')).toEqual({ by: 'lastSeenAt', descending: true });
  expect(parseUserOrder('-password')).toEqual({ by: 'name', descending: false });
});
