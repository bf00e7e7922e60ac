import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  apiConditions,
  conditionsText,
  isComplete,
  OPERATORS,
  parseConditions,
  searchFilters,
  type Conditions,
} from './conditions';

const scalar = fc.oneof(fc.string({ minLength: 1 }), fc.integer(), fc.boolean());
const condition = fc
  .record({
    type: fc.constantFrom(...OPERATORS),
    filter: fc.oneof(scalar, fc.array(scalar, { minLength: 1 })),
    filter2: scalar,
  })
  .filter(isComplete);
const conditions = fc.dictionary(fc.stringMatching(/^[a-z.[\]*]{1,12}$/), condition);

describe('filters in the address', () => {
  it('are the same after a reload', () => {
    fc.assert(
      fc.property(conditions, (value) => {
        const plain: Conditions = { ...value };
        expect(parseConditions(conditionsText(plain))).toEqual(plain);
      }),
    );
  });

  it.each([null, '', '{', '[]', '3', '{"a":1}', '{"a":{"type":"like"}}', '{"a":{"type":"equals"}}'])(
    '%j is no filter',
    (text) => {
      expect(parseConditions(text)).toEqual({});
    },
  );
});

describe('filters of a request', () => {
  const day = { type: 'inRange', filter: '2026-01-02', filter2: '2026-01-03' } as const;

  it('use days in the time zone of the user for instants', () => {
    const sent = apiConditions({ a: day }, () => 'instant');
    expect(sent).toEqual({
      a: {
        type: 'inRange',
        filter: new Date(2026, 0, 2).toISOString(),
        filter2: new Date(2026, 0, 3, 23, 59, 59).toISOString(),
      },
    });
  });

  it('keep dates without a time zone as they are', () => {
    expect(apiConditions({ a: day }, () => 'date')).toEqual({ a: day });
    expect(apiConditions({ a: { type: 'greaterThan', filter: '2026-01-02' } }, () => 'dateTime')).toEqual({
      a: { type: 'greaterThan', filter: '2026-01-02T23:59:59' },
    });
  });

  it('count days from now', () => {
    const now = Date.UTC(2026, 0, 9, 10, 20);
    expect(apiConditions({ a: { type: 'lastDays', filter: 7 } }, () => 'instant', now)).toEqual({
      a: { type: 'greaterThanOrEqual', filter: '2026-01-02T10:00:00.000Z' },
    });
  });

  it('count days of the browser for dates without a time zone', () => {
    // In Los Angeles, it is still the day before.
    const now = Date.UTC(2026, 0, 9, 4, 30);
    const zone = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(8 * 60);
    for (const kind of ['date', 'dateTime'] as const) {
      // Dates in properties may be in the future.
      expect(apiConditions({ a: { type: 'lastDays', filter: 1 } }, () => kind, now)).toEqual({
        a: { type: 'inRange', filter: '2026-01-07T00:00:00', filter2: '2026-01-08T23:59:59' },
      });
    }
    zone.mockRestore();
  });

  it.each([
    [{ type: 'lastDays', filter: 200_000_000 }, { filter: '0001-01-01T00:00:00.000Z' }],
    [{ type: 'lastDays', filter: 'x' }, { filter: 'x' }],
    [{ type: 'greaterThanOrEqual', filter: '2025-13-45' }, { filter: '2025-13-45' }],
  ])('of a damaged address are sent: %j', (condition, sent) => {
    const found = apiConditions({ a: condition as Conditions[string] }, () => 'instant');
    expect(found).toEqual({ a: { type: 'greaterThanOrEqual', ...sent } });
  });
});

describe('filters beside searched words', () => {
  it.each([
    [{ type: 'equals', filter: ['a', 'b c'] }, '(["a" TO "a"] OR ["b c" TO "b c"])'],
    [{ type: 'notEqual', filter: 'a' }, 'NOT (["a" TO "a"])'],
    [{ type: 'equals', filter: -5 }, '([-5 TO -5])'],
    [{ type: 'equals', filter: true }, '(true)'],
    [{ type: 'contains', filter: 'slow' }, '*slow*'],
    [{ type: 'contains', filter: ['slow', 'hot'] }, '*slow* OR *hot*'],
    [{ type: 'notContains', filter: 'slow' }, 'NOT (*slow*)'],
    [{ type: 'notContains', filter: ['slow', 'hot'] }, 'NOT (*slow* OR *hot*)'],
    [{ type: 'inRange', filter: 5, filter2: 10 }, '[5 TO 10]'],
    [{ type: 'greaterThan', filter: 5 }, '>5'],
    [{ type: 'empty' }, 'NOT *'],
  ])('%j is %s', (value, query) => {
    expect(searchFilters({ 'a[*].dataUrl': value })).toEqual({ filters: { a: query }, ignored: [] });
  });

  it.each([
    { type: 'startsWith', filter: 'slow' },
    { type: 'endsWith', filter: 'x' },
    { type: 'contains', filter: 'slow kettle' },
    { type: 'contains', filter: ['slow', 'x-1'] },
    { type: 'notContains', filter: 'x-1' },
  ])('are listed as ignored if the search cannot express them: %j', (value) => {
    expect(searchFilters({ a: value })).toEqual({ filters: {}, ignored: ['a'] });
  });
});
