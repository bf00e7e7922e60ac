// @vitest-environment jsdom
import { expect, it, vi } from 'vitest';
import { focusPath, pathsAbove } from './focus-path';

it('paths of a property are its own, then those that contain it', () => {
  expect(pathsAbove('list[0].people[2].name')).toEqual([
    'list[0].people[2].name',
    'list[0].people[2]',
    'list[0].people',
    'list[0]',
    'list',
  ]);
  expect(pathsAbove('title')).toEqual(['title']);
});

it('finds the text of a source editor before the buttons of its field', () => {
  vi.stubGlobal('CSS', { escape: (text: string) => text });
  const form = document.createElement('form');
  const field = document.createElement('div');
  field.dataset.path = 'bio';
  field.scrollIntoView = () => undefined;
  const host = document.createElement('div');
  const text = document.createElement('textarea');
  host.attachShadow({ mode: 'open' }).append(text);
  field.append(document.createElement('button'), host);
  form.append(field);
  document.body.append(form);
  focusPath(form, 'bio');
  expect(host.shadowRoot?.activeElement).toBe(text);
  form.remove();
  vi.unstubAllGlobals();
});
