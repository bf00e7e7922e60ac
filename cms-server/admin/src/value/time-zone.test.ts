import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantOf, localTime } from './time-zone';

describe('time zones', () => {
  it.each([
    ['2026-01-02T09:00', 'Europe/Warsaw', '2026-01-02T08:00:00.000Z'],
    ['2026-07-02T09:00', 'Europe/Warsaw', '2026-07-02T07:00:00.000Z'],
    ['2026-07-02T09:00', 'Asia/Kolkata', '2026-07-02T03:30:00.000Z'],
    ['2026-07-02T09:00', 'UTC', '2026-07-02T09:00:00.000Z'],
    // Clocks go back: 02:30 happens twice, and the first one counts.
    ['2026-10-25T02:30', 'Europe/Warsaw', '2026-10-25T00:30:00.000Z'],
  ])('reads %s in %s', (local, zone, expected) => {
    expect(instantOf(local, zone)?.toISOString()).toBe(expected);
  });
  it('knows that clocks skip an hour', () => {
    expect(instantOf('2026-03-29T02:30', 'Europe/Warsaw')).toBeNull();
  });
  it('refuses what is no time or no zone', () => {
    expect(instantOf('', 'UTC')).toBeNull();
    expect(instantOf('2026-13-40T00:00', 'UTC')).toBeNull();
    expect(instantOf('2026-01-01T00:00', 'Mars/Base')).toBeNull();
    expect(instantOf('2026-01-01T00:00', '+02:00')).toBeNull();
  });
  it('finds back every instant in every zone', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Warsaw',
      'America/New_York',
      'Asia/Kathmandu',
      'Pacific/Apia',
      'Australia/Lord_Howe',
    );
    const minutes = fc.integer({ min: 27_000_000, max: 33_000_000 });
    fc.assert(
      fc.property(zones, minutes, (zone, minute) => {
        const local = localTime(new Date(minute * 60_000), zone);
        const found = instantOf(local, zone);
        expect(found && localTime(found, zone)).toBe(local);
      }),
      { numRuns: 200 },
    );
  });
});
