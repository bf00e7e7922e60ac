import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventParser } from './event-parser';

const stream =
  ': hello\n\nid: 5-ab\n\nid: 6-ab\ndata: {"seq":"6"}\n\nevent: presence\ndata: {"tab":"a"}\ndata: {"b":1}\n\r\nid:7\r\n\r\n';
const events = [
  { id: '5-ab', event: '', data: '' },
  { id: '6-ab', event: '', data: '{"seq":"6"}' },
  { id: null, event: 'presence', data: '{"tab":"a"}\n{"b":1}' },
  { id: '7', event: '', data: '' },
];

it('reads events and positions without data, and skips comments', () => {
  expect(new EventParser().push(stream)).toEqual(events);
});

it('reads the same events wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const parser = new EventParser();
      const read = places.flatMap((place, index) => parser.push(stream.slice(place, places[index + 1])));
      expect(read).toEqual(events);
    }),
  );
});
