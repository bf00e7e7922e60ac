import { expect, it } from 'vitest';
import { chosenItems } from './item-choice';

it.each([
  [
    'adds',
    [{ action: 'create', since: 1 }],
    ['create', 'delete'],
    [{ action: 'create', since: 1 }, { action: 'delete' }],
  ],
  ['removes', [{ action: 'create' }, { action: 'delete' }], ['delete'], [{ action: 'delete' }]],
  ['orders', [{ action: 'a' }, { action: 'b', x: 2 }], ['b', 'a'], [{ action: 'b', x: 2 }, { action: 'a' }]],
  ['empties', [{ action: 'create' }], undefined, []],
  [
    'keeps items without a value',
    [{ other: 1 }, 7, { action: 'a' }],
    ['b'],
    [{ action: 'b' }, { other: 1 }, 7],
  ],
])('%s items of a choice', (_name, items, values, expected) => {
  expect(chosenItems(items, 'action', values)).toEqual(expected);
});
