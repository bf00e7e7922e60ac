import { expect, it } from 'vitest';
import { pathsAbove } from './focus-path';

it('looks for the property, then for what contains it', () => {
  expect(pathsAbove('list[0].people[2].name')).toEqual([
    'list[0].people[2].name',
    'list[0].people[2]',
    'list[0].people',
    'list[0]',
    'list',
  ]);
  expect(pathsAbove('title')).toEqual(['title']);
});
