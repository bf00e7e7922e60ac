// Which control shows which inputType. Controls with large libraries are loaded when a form needs them.
import type { Component } from 'svelte';
import { TRANSLATIONS as TRANSLATIONS_PROPERTY, type Field } from '../type/form';
import Checkbox from './checkbox/Checkbox.svelte';
import Choice from './choice/Select.svelte';
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

function isMedia(field: Field): boolean {
  return field.targets.length === 1 && field.targets[0] === '_media';
}

// Loaders are constants: each is the key of its loaded control.
const RICH_TEXT: Entry = { control: { lazy: () => import('./richtext/RichText.svelte') }, group: true };
const BLOCKS: Entry = { control: { lazy: () => import('./block/Block.svelte') }, group: true };
const MARKDOWN: Entry = { control: { lazy: () => import('./markdown/Markdown.svelte') }, group: true };
const MULTI_SELECT: Entry = { control: { lazy: () => import('./choice/MultiSelect.svelte') }, group: true };
const ITEM_CHOICE: Entry = { control: { lazy: () => import('./choice/ItemChoice.svelte') }, group: true };
/** More have a search. */
const MAX_OPTIONS = 12;
const SEARCH_SELECT: Entry = { control: { lazy: () => import('./choice/SearchSelect.svelte') } };
const SIMPLE_LIST: Entry = {
  control: { lazy: () => import('./simple-list/SimpleList.svelte') },
  group: true,
};
const OBJECT_LIST: Entry = {
  control: { lazy: () => import('./object-list/ObjectList.svelte') },
  group: true,
};
const TRANSLATIONS: Entry = {
  control: { lazy: () => import('./translations/Translations.svelte') },
  group: true,
};
const GEO: Entry = { control: { lazy: () => import('./geo/Geo.svelte') }, group: true };
const NESTED: Entry = { control: { lazy: () => import('./custom/NestedObject.svelte') }, group: true };
const MEDIA: Entry = { control: { lazy: () => import('./media/Media.svelte') }, group: true };
const RELATION: Entry = { control: { lazy: () => import('./datasource/Relation.svelte') }, group: true };
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
      if (field.options.length > MAX_OPTIONS) return SEARCH_SELECT;
      return { control: Choice, group: field.options.length <= 7 };
    case 'select':
      if (field.multiple) return MULTI_SELECT;
      return field.options.length > MAX_OPTIONS ? SEARCH_SELECT : { control: Choice };
    case 'checkbox':
      return { control: Checkbox };
    case 'dateTime':
      return { control: DateField };
    case 'geo':
      return GEO;
    case 'custom':
      return field.fields.length > 0 ? NESTED : JSON_TEXT;
    case 'simpleList':
      return SIMPLE_LIST;
    case 'object':
      if (field.itemChoice) return ITEM_CHOICE;
      return field.name === TRANSLATIONS_PROPERTY ? TRANSLATIONS : OBJECT_LIST;
    case 'datasource':
      return isMedia(field) ? MEDIA : RELATION;
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
  return loadAgain(lazy).then((control) => {
    loaded.set(lazy, control);
    return control;
  });
}

const MAX_RETRY_DELAY_MS = 30_000;

/**
 * Loads a control until it arrives: the server, or the network, may be gone for a while. Many browsers remember
 * the failure; then the page offers to be loaded again, once it is online.
 */
async function loadAgain(lazy: Loader): Promise<Control> {
  for (let delay = 1000; ; delay = Math.min(2 * delay, MAX_RETRY_DELAY_MS)) {
    try {
      return (await lazy()).default;
    } catch {
      await new Promise((done) => setTimeout(done, delay));
    }
  }
}

export function isGroup(field: Field): boolean {
  return entryOf(field).group === true;
}
