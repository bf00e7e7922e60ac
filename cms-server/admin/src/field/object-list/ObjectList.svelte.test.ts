// @vitest-environment jsdom
// The component itself: whether Undo is withdrawn depends on how its value is replaced.
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readContentType } from '../../type/definition';
import { formOf } from '../../type/form';
import { toasts } from '../../ui/toasts.svelte';
import type { ControlProps } from '../control';
import ObjectList from './ObjectList.svelte';

const STORED = ['p0', 'p1', 'p2', 'p3', 'p4'].map((name) => ({ name }));
// jsdom has no CSS.escape; these paths are quoted, which is enough.
vi.stubGlobal('CSS', { escape: String });
let close: () => void = () => undefined;
afterEach(() => close());

function openList() {
  const { fields } = formOf(
    readContentType({
      name: 'x',
      schemaDefinition: {
        properties: { list: { type: 'array', items: { properties: { name: { type: 'string' } } } } },
      },
      metaDefinition: {
        order: ['list'],
        propertiesConfig: {
          list: {
            inputType: 'object',
            multiple: true,
            items: { order: ['name'], propertiesConfig: { name: { inputType: 'text' } } },
          },
        },
      },
    }),
  );
  const [field] = fields;
  if (!field) throw new Error('the form has no field');
  let value: unknown = $state.raw(STORED);
  const props: ControlProps = {
    field,
    get value() {
      return value;
    },
    path: 'list',
    errors: {},
    readonly: false,
    id: 'list',
    describedBy: undefined,
    invalid: false,
    onchange: (changed) => (value = changed),
  };
  const target = document.body.appendChild(document.createElement('div'));
  const list = mount(ObjectList, { target, props });
  flushSync();
  close = () => {
    void unmount(list);
    target.remove();
    flushSync();
  };
  return {
    names: () => (Array.isArray(value) ? value.map(({ name }: { name?: string }) => name) : value),
    remove(index: number) {
      const item = target.querySelector(`[data-path="list[${String(index)}]"]`);
      const buttons = [...(item?.querySelectorAll<HTMLElement>(':scope > .head > button') ?? [])];
      buttons.at(-1)?.click();
      flushSync();
    },
    replace(changed: unknown) {
      value = changed;
      flushSync();
    },
    add() {
      document.getElementById('list')?.click();
      flushSync();
    },
  };
}

function undo(index: number) {
  toasts.all[index]?.action?.run();
  flushSync();
}

describe('undo of a removed item', () => {
  it('is withdrawn after the form is discarded', () => {
    const list = openList();
    list.remove(2);
    expect(list.names()).toEqual(['p0', 'p1', 'p3', 'p4']);
    const [{ action } = {}] = toasts.all;
    list.replace(STORED);
    expect(toasts.all).toEqual([]);
    action?.run();
    expect(list.names()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  it('restores the order of the list when the first removal is undone first', () => {
    const list = openList();
    list.remove(1);
    list.remove(2);
    expect(list.names()).toEqual(['p0', 'p2', 'p4']);
    undo(0);
    undo(1);
    expect(list.names()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  it('stays after a save that stores an equal list, and after another edit', () => {
    const list = openList();
    list.remove(4);
    list.replace(structuredClone(STORED.slice(0, 4)));
    list.add();
    undo(0);
    expect(list.names()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', undefined]);
  });
});
