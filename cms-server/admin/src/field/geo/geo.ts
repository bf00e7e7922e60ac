// Points on the earth as people type and paste them.
import { isRecord } from '../../value/record';

export interface Point {
  lat: number;
  lon: number;
}

const NUMBER = String.raw`([+-]?\d+(?:\.\d+)?)`;
const PAIR = new RegExp(
  String.raw`^\(?\s*${NUMBER}\s*°?\s*([NS])?\s*[,;\s]\s*${NUMBER}\s*°?\s*([EW])?\s*\)?$`,
  'i',
);
const GEO_URI = new RegExp(`^geo:${NUMBER},${NUMBER}`, 'i');
const IN_URL = new RegExp(`[@=/]${NUMBER},${NUMBER}`);
const DECIMAL_COMMA = /^\s*([+-]?\d+,\d+)\s*[;\s]\s*([+-]?\d+,\d+)\s*$/;

/** Reads "52.1, 21.0", "52.1 N 21.0 E", "52,1; 21,0", a `geo:` URI, or the URL of a map. */
export function parsePoint(text: string): Point | null {
  const plain = text.trim();
  const comma = DECIMAL_COMMA.exec(plain);
  if (comma) return valid(decimal(comma[1]), decimal(comma[2]));
  const uri = GEO_URI.exec(plain);
  if (uri) return valid(Number(uri[1]), Number(uri[2]));
  // A number with a decimal comma, which is typed or pasted into one of the inputs.
  if (/^[+-]?\d+,\d+$/.test(plain)) return null;
  const pair = PAIR.exec(plain);
  if (pair) {
    const [, lat, south, lon, west] = pair;
    return valid(signed(Number(lat), south, 'S'), signed(Number(lon), west, 'W'));
  }
  const url = /^https?:/i.test(plain) ? IN_URL.exec(plain) : null;
  return url ? valid(Number(url[1]), Number(url[2])) : null;
}

const decimal = (text: string | undefined) => Number(text?.replace(',', '.'));
const signed = (value: number, letter: string | undefined, negative: string) =>
  letter?.toUpperCase() === negative ? -value : value;

function valid(lat: number, lon: number): Point | null {
  return isLatitude(lat) && isLongitude(lon) ? { lat, lon } : null;
}

export const isLatitude = (value: number) => value >= -90 && value <= 90;
export const isLongitude = (value: number) => value >= -180 && value <= 180;

/** A stored point; null if a coordinate is missing or out of range. */
export function pointOf(value: unknown): Point | null {
  if (!isRecord(value) || typeof value.lat !== 'number' || typeof value.lon !== 'number') return null;
  return valid(value.lat, value.lon);
}

/** The number in a typed text. Text that is not a number is returned unchanged: the form or the server reports the error. */
export function coordinate(text: string): number | string {
  const plain = text.trim().replace(',', '.');
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : text;
}

/**
 * The value after one coordinate was typed. An incomplete point has an empty text for the missing number, so that the
 * server refuses it.
 */
export function withCoordinate(value: unknown, name: 'lat' | 'lon', text: string): unknown {
  const old = isRecord(value) ? value : {};
  const next: Record<string, unknown> = { lat: '', lon: '', ...old, [name]: coordinate(text) };
  const empty = (part: unknown) => part === '' || part === undefined;
  return empty(next.lat) && empty(next.lon) ? undefined : next;
}

/** The point with five decimal places, about a metre. */
export function rounded(point: Point): Point {
  const round = (value: number) => Math.round(value * 1e5) / 1e5;
  return { lat: round(point.lat), lon: round(point.lon) };
}
