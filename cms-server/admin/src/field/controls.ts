// Which control shows which inputType. Controls with large libraries are loaded when a form needs them.
import type { Component } from 'svelte';
import { TRANSLATIONS as TRANSLATIONS_PROPERTY, type Field } from '../type/form';
import { loadAgain } from '../ui/load-again';
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
  group: boolean;
}

function isMedia(field: Field): boolean {
  return field.targets.length === 1 && field.targets[0] === '_media';
}

const single = (control: Control): Entry => ({ control, group: false });
const group = (lazy: Loader): Entry => ({ control: { lazy }, group: true });

// Loaders are constants, because each is the key of its control in `loaded`.
const RICH_TEXT = group(() => import('./richtext/RichText.svelte'));
const BLOCKS = group(() => import('./block/Block.svelte'));
const MARKDOWN = group(() => import('./markdown/Markdown.svelte'));
const MULTI_SELECT = group(() => import('./choice/MultiSelect.svelte'));
const ITEM_CHOICE = group(() => import('./choice/ItemChoice.svelte'));
/** Maximum number of options in a control without a search. */
const MAX_OPTIONS = 12;
const SEARCH_SELECT: Entry = {
  control: { lazy: () => import('./choice/SearchSelect.svelte') },
  group: false,
};
const SIMPLE_LIST = group(() => import('./simple-list/SimpleList.svelte'));
const OBJECT_LIST = group(() => import('./object-list/ObjectList.svelte'));
const TRANSLATIONS = group(() => import('./translations/Translations.svelte'));
const GEO = group(() => import('./geo/Geo.svelte'));
const NESTED = group(() => import('./custom/NestedObject.svelte'));
const MEDIA = group(() => import('./media/Media.svelte'));
const RELATION = group(() => import('./datasource/Relation.svelte'));
const JSON_TEXT = group(() => import('./json/Json.svelte'));

function entryOf(field: Field): Entry {
  switch (field.kind) {
    case 'text':
    case 'email':
      return single(Text);
    case 'textarea':
      return single(Textarea);
    case 'richtext':
      return RICH_TEXT;
    case 'textMarkdown':
    case 'markdown':
      return MARKDOWN;
    case 'block':
      return BLOCKS;
    case 'number':
      return single(NumberField);
    case 'radio':
      if (field.options.length > MAX_OPTIONS) return SEARCH_SELECT;
      return { control: Choice, group: field.options.length <= 7 };
    case 'select':
      if (field.multiple) return MULTI_SELECT;
      return field.options.length > MAX_OPTIONS ? SEARCH_SELECT : single(Choice);
    case 'checkbox':
      return single(Checkbox);
    case 'dateTime':
      return single(DateField);
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
  return loadAgain(lazy).then(({ default: control }) => {
    loaded.set(lazy, control);
    return control;
  });
}

export function isGroup(field: Field): boolean {
  return entryOf(field).group;
}
