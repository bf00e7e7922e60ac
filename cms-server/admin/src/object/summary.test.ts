import { expect, it } from 'vitest';
import { filesLast, type Summary } from './summary';

const of = (type: string, title: string): Summary => ({
  type,
  id: title,
  title,
  status: '',
  isPublic: true,
  image: null,
  file: null,
});

it('a text links to the object that has the words, and to a file only by its name', () => {
  const found = [of('_media', 'night-ferry.jpg'), of('post', "The ten o'clock boat")];
  expect(filesLast(found, 'ten o').map(({ type }) => type)).toEqual(['post', '_media']);
  expect(filesLast(found, 'Night-Ferry.jpg').map(({ type }) => type)).toEqual(['_media', 'post']);
});
