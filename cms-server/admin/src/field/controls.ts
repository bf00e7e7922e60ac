// Which control shows which inputType. Controls with large libraries are loaded when a form needs them.
import type { Component } from 'svelte';
import type { Field } from '../type/form';
import Checkbox from './checkbox/Checkbox.svelte';
import Choice from './choice/Choice.svelte';
import type { ControlProps } from './control';
import DateField from './date/Date.svelte';
import NumberField from './number/Number.svelte';
import Text from './text/Text.svelte';
import Textarea from './textarea/Textarea.svelte';

export type Control = Component<ControlProps>;

type Loader = () => Promise<{ default: Control }>;

interface Entry {
  /** A control of the first download, or a loader of one that needs a large library. */
  control: Control | { lazy: Loader };
  /** The control consists of several inputs: its label is a legend. */
  group?: boolean;
}

const multiple: Loader = () => import('./choice/Multiple.svelte');
const simpleList: Loader = () => import('./simple-list/SimpleList.svelte');
const objectList: Loader = () => import('./object-list/ObjectList.svelte');
const geo: Loader = () => import('./geo/Geo.svelte');
const custom: Loader = () => import('./custom/Custom.svelte');
const media: Loader = () => import('./media/Media.svelte');
const relation: Loader = () => import('./datasource/Relation.svelte');

function isMedia(field: Field): boolean {
  return field.targets.length === 1 && field.targets[0] === '_media';
}

// Loaders are constants: each is the key of its loaded control.
const RICH_TEXT: Entry = { control: { lazy: () => import('./richtext/RichText.svelte') }, group: true };
const BLOCKS: Entry = { control: { lazy: () => import('./block/Block.svelte') }, group: true };
const MARKDOWN: Entry = { control: { lazy: () => import('./markdown/Markdown.svelte') }, group: true };
const JSON_TEXT: Entry = { control: { lazy: () => import('./json/Json.svelte') }, group: true };

function entryOf(field: Field): Entry {
  switch (field.kind) {
    case 'text':
    case 'email':
      return { control: Text };
    case 'textarea':
      return { control: Textarea };
    case 'richtext':
      return RICH_TEXT;
    case 'textMarkdown':
    case 'markdown':
      return MARKDOWN;
    case 'block':
      return BLOCKS;
    case 'number':
      return { control: NumberField };
    case 'radio':
      return { control: Choice, group: field.options.length <= 7 };
    case 'select':
      return field.multiple ? { control: { lazy: multiple }, group: true } : { control: Choice };
    case 'checkbox':
      return { control: Checkbox };
    case 'dateTime':
      return { control: DateField };
    case 'geo':
      return { control: { lazy: geo }, group: true };
    case 'custom':
      return field.fields.length > 0 ? { control: { lazy: custom }, group: true } : JSON_TEXT;
    case 'simpleList':
      return { control: { lazy: simpleList }, group: true };
    case 'object':
      return { control: { lazy: objectList }, group: true };
    case 'datasource':
      return { control: { lazy: isMedia(field) ? media : relation }, group: true };
    default:
      return JSON_TEXT;
  }
}

const loaded = new Map<Loader, Control>();

/** The control of a field; a promise only while its code is loaded for the first time. */
export function controlFor(field: Field): Control | Promise<Control> {
  const { control } = entryOf(field);
  if (!('lazy' in control)) return control;
  const { lazy } = control;
  const known = loaded.get(lazy);
  if (known) return known;
  return lazy().then((module) => {
    loaded.set(lazy, module.default);
    return module.default;
  });
}

export function isGroup(field: Field): boolean {
  return entryOf(field).group === true;
}
