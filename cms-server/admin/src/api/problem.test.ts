// Messages of failed requests.
import { expect, test } from 'vitest';
import { common } from '../text/de/common';
import { t } from '../text';
import { errorsBelow, problemOf } from './problem';

const response = (status: number) => new Response(null, { status });

test('a problem has the message of the API', () => {
  expect(problemOf(response(403), { message: 'Access denied' }).message).toBe('Access denied');
});

test('a problem without a body of the API has a sentence in the language of the page', () => {
  const { message } = problemOf(response(502), '<html>Bad gateway</html>');
  expect(message).toBe(t.common.unexpectedStatus(502));
  expect(common.unexpectedStatus(502)).toBe('Der Server hat mit Status 502 geantwortet.');
  expect(message).toContain('502');
});

test('the messages about an item are those of its own path and of the paths below it', () => {
  const errors = { 'list[0].name': ['a', 'b'], 'list[10].sub[1].x': ['c'], 'lists[3]': ['d'], list: ['e'] };
  expect(errorsBelow(errors, 'list[0]')).toEqual(['a', 'b']);
  expect(errorsBelow(errors, 'list[1]')).toEqual([]);
  expect(errorsBelow(errors, 'list[10]')).toEqual(['c']);
});
