// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readContentType } from '../../../type/definition';
import PatchChoice from './PatchChoice.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const type = readContentType({
  id: 'note',
  name: 'note',
  label: 'Note',
  schemaDefinition: {
    type: 'object',
    allOf: [
      { $ref: '#/components/schemas/AbstractContentTypeSchemaDefinition' },
      { type: 'object', properties: { title: { type: 'string' } } },
    ],
    required: [],
    additionalProperties: false,
  },
  metaDefinition: {
    order: ['title'],
    propertiesConfig: { title: { label: 'Title', inputType: 'text', unique: false } },
  },
});

it('earlier value is withdrawn while a new one is being typed', async () => {
  const patches: unknown[] = [];
  const onchoose = (patch: unknown) => patches.push(patch);
  const component = mount(PatchChoice, { target: document.body, props: { type, errors: {}, onchoose } });
  const select = document.querySelector('select');
  if (!select) throw new Error('no property can be chosen');
  select.value = 'title';
  select.dispatchEvent(new Event('change', { bubbles: true }));
  await vi.dynamicImportSettled();
  flushSync();
  const type_ = (text: string) => {
    const input = document.querySelector('input');
    if (!input) throw new Error('no control');
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    flushSync();
  };
  type_('first');
  vi.advanceTimersByTime(1000);
  expect(patches.at(-1)).toEqual({ title: 'first' });
  type_('second');
  expect(patches.at(-1)).toBeNull();
  vi.advanceTimersByTime(1000);
  expect(patches.at(-1)).toEqual({ title: 'second' });
  type_('third');
  await unmount(component);
  vi.advanceTimersByTime(1000);
  expect(patches.at(-1)).toBeNull();
});
