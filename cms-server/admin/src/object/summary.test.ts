import { expect, it } from 'vitest';
import { filesLast, type Summary } from './summary';

const summary = (type: string, title: string): Summary => ({
  type,
  id: title,
  title,
  status: '',
  isPublic: true,
  image: null,
  file: null,
});

it('files come after objects, except for a file whose name was typed', () => {
  const found = [summary('_media', 'night-ferry.jpg'), summary('post', "The ten o'clock boat")];
  expect(filesLast(found, 'ten o').map(({ type }) => type)).toEqual(['post', '_media']);
  expect(filesLast(found, 'Night-Ferry.jpg').map(({ type }) => type)).toEqual(['_media', 'post']);
});
