import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coordinate, parsePoint, pointOf, withCoordinate } from './geo';

describe('geo', () => {
  it.each([
    ['52.1, 21.0', { lat: 52.1, lon: 21 }],
    ['52.1,21', { lat: 52.1, lon: 21 }],
    ['-33.86 151.2', { lat: -33.86, lon: 151.2 }],
    ['(52.1; 21.0)', { lat: 52.1, lon: 21 }],
    ['52,1; 21,05', { lat: 52.1, lon: 21.05 }],
    ['52.1° N, 21.0° W', { lat: 52.1, lon: -21 }],
    ['33.8 S 151.2 E', { lat: -33.8, lon: 151.2 }],
    ['geo:52.1,21.0?z=12', { lat: 52.1, lon: 21 }],
    ['geo:52.1,21.0,100', { lat: 52.1, lon: 21 }],
    ['https://maps.example.com/@52.1,21.0,12z', { lat: 52.1, lon: 21 }],
    ['91, 0', null],
    ['0, 181', null],
    ['52.1', null],
    ['Warsaw', null],
    ['', null],
  ])('reads %j', (text, expected) => {
    expect(parsePoint(text)).toEqual(expected);
  });

  it('reads every point that it would write', () => {
    const number = (max: number) => fc.integer({ min: -max * 1000, max: max * 1000 }).map((n) => n / 1000);
    fc.assert(
      fc.property(number(90), number(180), (lat, lon) => {
        expect(parsePoint(`${String(lat)}, ${String(lon)}`)).toEqual({
          lat: Number(String(lat)),
          lon: Number(String(lon)),
        });
      }),
    );
  });

  it('without one coordinate has an empty text for it', () => {
    expect(withCoordinate(undefined, 'lat', '52')).toEqual({ lat: 52, lon: '' });
    expect(withCoordinate({ lat: 52, lon: '' }, 'lon', '21,5')).toEqual({ lat: 52, lon: 21.5 });
    expect(withCoordinate({ lat: 52, lon: '' }, 'lat', '')).toBeUndefined();
    expect(withCoordinate({ lat: 1, lon: 2 }, 'lat', 'north')).toEqual({ lat: 'north', lon: 2 });
  });

  it('shows only complete points on the map', () => {
    expect(pointOf({ lat: 1, lon: 2 })).toEqual({ lat: 1, lon: 2 });
    expect(pointOf({ lat: 1, lon: '' })).toBeNull();
    expect(pointOf({ lat: 200, lon: 0 })).toBeNull();
    expect(coordinate('1e3')).toBe('1e3');
  });
});
