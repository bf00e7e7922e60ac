import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isView,
  PAGE_SIZES,
  viewFromStored,
  readState,
  stateQuery,
  viewToStored,
  type ListState,
} from './state';

const name = fc.stringMatching(/^[a-z]{1,8}$/);
const state: fc.Arbitrary<ListState> = fc.record({
  words: fc.string(),
  conditions: fc
    .dictionary(name, fc.record({ type: fc.constant('equals' as const), filter: fc.integer() }))
    .map((c) => ({ ...c })),
  columns: fc.option(fc.array(name)),
  order: fc.option(fc.record({ path: name, descending: fc.boolean() })),
  limit: fc.option(fc.constantFrom(...PAGE_SIZES)),
  page: fc.integer({ min: 1, max: 1000 }),
  view: fc.option(fc.uuid()),
});

describe('a list', () => {
  it('is the same after a reload and in a second tab', () => {
    fc.assert(
      fc.property(state, (value) => {
        expect(readState(new URLSearchParams(stateQuery(value)))).toEqual(value);
      }),
    );
  });

  it('is the same after it was saved as a view', () => {
    fc.assert(
      fc.property(state, (value) => {
        const stored: unknown = JSON.parse(JSON.stringify(viewToStored(value)));
        const { page: _page, view: _view, ...definition } = value;
        expect(viewFromStored(stored)).toEqual(definition);
        expect(isView(value, stored)).toBe(true);
      }),
    );
  });

  it('opens with a view that another program wrote', () => {
    expect(viewFromStored(null)).toEqual({
      words: '',
      conditions: {},
      columns: null,
      order: null,
      limit: null,
    });
    expect(viewFromStored({ q: 3, columns: ['a', 1], order: '-price', limit: 7 })).toMatchObject({
      words: '',
      columns: ['a'],
      order: { path: 'price', descending: true },
      limit: null,
    });
  });

  it('opens page 1 if the page in the address is not valid', () => {
    expect(readState(new URLSearchParams('page=-3&limit=9&order=-')).page).toBe(1);
  });
});
