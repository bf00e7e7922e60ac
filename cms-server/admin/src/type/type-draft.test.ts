import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moved } from '../value/list';
import { record, records, strings } from './definition';
import {
  propertyKindOf,
  PROPERTY_KINDS,
  newProperty,
  withKind,
  withRequired,
  type Json,
} from './property-draft';
import { acceptRename, suggestRenames } from './renames';
import types from './test-types.json';
import {
  isChanged,
  isOutdated,
  nameError,
  newDraft,
  readDraft,
  removeNewProperty,
  renameInLevel,
  renameProperty,
  replaceDefinition,
  writeDraft,
  type TypeDraft,
} from './type-draft';

const definitions: Json[] = types;
const definition = (name: string): Json => record(definitions.find((type) => type.name === name));
const anyType = fc.constantFrom(...definitions);

function schemas(written: Json): Json {
  return record(record(records(record(written.schemaDefinition).allOf)[1]).properties);
}
function configs(written: Json): Json {
  return record(record(written.metaDefinition).propertiesConfig);
}
function change(draft: TypeDraft, name: string, how: Partial<TypeDraft['properties'][number]>): TypeDraft {
  const properties = draft.properties.map((property) =>
    property.name === name ? { ...property, ...how } : property,
  );
  return { ...draft, properties };
}

describe('a definition that somebody has changed meanwhile', () => {
  const draft = readDraft({ ...definition('post'), label: 'Before' });
  const edited = replaceDefinition(draft, { ...definition('post'), label: 'Mine' });

  it.each([
    ['Before', false],
    ['Theirs', true],
    ['Mine', false],
  ])('outdates an edit with another result: %s', (label, expected) => {
    expect(isOutdated(edited, { ...definition('post'), id: 'x', label })).toBe(expected);
  });
});

describe('a definition that nobody has edited', () => {
  it.each(definitions.map((type) => [type.name, type]))('is written as it was read: %s', (_name, type) => {
    const draft = readDraft({ ...type, id: 'x', createdAt: 'then', updatedAt: null, deletedAt: null });
    expect(JSON.stringify(writeDraft(draft))).toBe(JSON.stringify(type));
    expect(isChanged(draft)).toBe(false);
  });

  it('is the same after its JSON was replaced by itself', () => {
    fc.assert(
      fc.property(anyType, (type) => {
        expect(JSON.stringify(writeDraft(replaceDefinition(readDraft(type), type)))).toBe(
          JSON.stringify(type),
        );
      }),
    );
  });
});

describe('an edit that is taken back', () => {
  it('changes nothing', () => {
    fc.assert(
      fc.property(anyType, fc.nat(), fc.nat(), fc.constantFrom(...PROPERTY_KINDS), (type, a, b, choice) => {
        const draft = readDraft(type);
        const count = draft.properties.length;
        const [from, to] = [a % count, b % count];
        const key = draft.properties[from]?.key ?? '';
        const back = {
          ...draft,
          properties: moved(moved(draft.properties, from, to), to, from).map((property) => {
            if (property.key !== key) return property;
            const once = withRequired(property, !property.required);
            const again = withRequired(once, property.required);
            return { ...withKind(withKind(again, choice), propertyKindOf(property)), removed: false };
          }),
        };
        const renamed = renameProperty(back, key, 'another_name');
        const written = writeDraft(renameProperty(renamed, key, draft.properties[from]?.name ?? ''));
        expect(written).toEqual(type);
      }),
    );
  });
});

describe('editing', () => {
  it('keeps the values of a renamed property, and its references', () => {
    const draft = readDraft(definition('post'));
    const title = draft.properties.find(({ name }) => name === 'title');
    const written = writeDraft(renameProperty(draft, title?.key ?? '', 'headline'));
    expect(configs(written).headline).toMatchObject({ renamedFrom: 'title', isTitlePart: true });
    expect(schemas(written)).not.toHaveProperty('title');
    expect(record(written.schemaDefinition).required).toContain('headline');
    expect(strings(record(written.metaDefinition).order)[0]).toBe('headline');
    expect(written.slugs).toEqual([{ source: 'headline', target: 'slug', active: true }]);
  });

  it('removes a property with its slug rule, and restores both', () => {
    const draft = readDraft(definition('post'));
    const without = change(draft, 'slug', { removed: true });
    expect(writeDraft(without)).toMatchObject({ slugs: [] });
    expect(JSON.stringify(writeDraft(change(without, 'slug', { removed: false })))).toBe(
      JSON.stringify(definition('post')),
    );
  });

  it('adds a property to the items of a list', () => {
    const draft = readDraft(definition('product'));
    const brewing = draft.properties.find(({ name }) => name === 'brewing');
    const items = [...(brewing?.items ?? []), { ...newProperty('integer', 'cups'), required: true }];
    const written = writeDraft(change(draft, 'brewing', { items }));
    const item = record(record(schemas(written).brewing).items);
    expect(record(item.properties).cups).toEqual({ type: 'integer' });
    expect(item.required).toEqual(['method', 'grams', 'water', 'cups']);
    expect(record(record(configs(written).brewing).items).order).toEqual([
      'method',
      'grams',
      'water',
      'seconds',
      'cups',
    ]);
  });

  it('keeps options when the kind of choice changes, and drops settings that the new kind does not have', () => {
    const [kind] = readDraft(definition('product')).properties.filter(({ name }) => name === 'kind');
    if (!kind) throw new Error('no property');
    const radio = withKind(kind, 'radio');
    expect(radio.config).toMatchObject({ inputType: 'radio', options: ['coffee', 'tea', 'tool'] });
    const number = withKind(kind, 'number');
    expect(number.config).toEqual({ label: 'Kind', inputType: 'number', unique: false });
    expect(number.schema).toEqual({ type: 'number' });
  });

  it('makes a definition of a new type', () => {
    const draft = newDraft();
    draft.definition = { ...draft.definition, name: 'recipe', label: 'Recipe' };
    draft.properties = [withRequired(newProperty('text', 'title'), true), newProperty('media', 'picture')];
    const written = writeDraft(draft);
    expect(written.schemaDefinition).toMatchObject({ required: ['title'], additionalProperties: false });
    expect(schemas(written).title).toEqual({ type: 'string', minLength: 1 });
    expect(configs(written).picture).toMatchObject({ validation: { relationContenttype: '_media' } });
  });

  it('refuses names that the server refuses', () => {
    const { properties } = readDraft(definition('post'));
    expect(nameError('title', 'other', properties, true)).toBe('taken');
    expect(nameError('id', 'other', properties, true)).toBe('reserved');
    expect(nameError('id', 'other', properties, false)).toBeNull();
    expect(nameError('größe', 'other', properties, true)).toBe('letters');
    expect(nameError('', 'other', properties, true)).toBe('missing');
  });
});

describe('renames', () => {
  it('asks once whether a new property continues a removed one', () => {
    const draft = readDraft(definition('post'));
    const properties = [
      ...change(draft, 'title', { removed: true }).properties,
      newProperty('number', 'titles'),
      newProperty('text', 'subtitle'),
      newProperty('text', 'name'),
    ];
    const [found, ...more] = suggestRenames(properties, []);
    expect(more).toEqual([]);
    expect(found?.added.name).toBe('subtitle');
    expect(suggestRenames(properties, ['title>subtitle'])[0]?.added.name).toBe('name');
    if (!found) throw new Error('no rename');
    const written = writeDraft(acceptRename(draft, found));
    expect(configs(written).subtitle).toMatchObject({ renamedFrom: 'title' });
    expect(schemas(written)).not.toHaveProperty('title');
  });

  it('continues a removed property like a rename, with what was typed for the new one', () => {
    const draft = readDraft(definition('post'));
    const removed = change(draft, 'title', { removed: true });
    const key = draft.properties.find(({ name }) => name === 'title')?.key ?? '';
    const headline = newProperty('text', 'headline');
    const added = { ...headline, config: { ...headline.config, helpText: 'In a few words' } };
    const both = { ...removed, properties: [...removed.properties, added] };
    const [found] = suggestRenames(both.properties, []);
    if (!found) throw new Error('no rename');
    const renamed = writeDraft(renameProperty(draft, key, 'headline'));
    const config = record(configs(renamed).headline);
    config.helpText = 'In a few words';
    config.label = 'Headline';
    expect(writeDraft(acceptRename(both, found))).toEqual(renamed);
  });
});

describe('unique combinations', () => {
  const meta = {
    ...record(definition('post').metaDefinition),
    uniqueTogether: [
      ['title', 'slug'],
      ['slug', 'minutes'],
    ],
  };
  const draft = readDraft({ ...definition('post'), metaDefinition: meta });
  const combinations = (written: Json) => record(written.metaDefinition).uniqueTogether;

  it('follow a renamed property', () => {
    const key = draft.properties.find(({ name }) => name === 'title')?.key ?? '';
    expect(combinations(writeDraft(renameProperty(draft, key, 'headline')))).toEqual([
      ['headline', 'slug'],
      ['slug', 'minutes'],
    ]);
  });

  it('are removed with one of their properties', () => {
    const one = change(draft, 'title', { removed: true });
    expect(combinations(writeDraft(one))).toEqual([['slug', 'minutes']]);
    expect(combinations(writeDraft(change(one, 'minutes', { removed: true })))).toBeUndefined();
  });
});

describe('a condition under which a field is shown', () => {
  const CONDITION = { property: 'kind', equals: 'a' };
  const property = (name: string, extra: Json = {}) => ({ [name]: { inputType: 'text', ...extra } });
  const level = {
    order: ['kind', 'note'],
    propertiesConfig: { ...property('kind'), ...property('note', { admin: { showIf: CONDITION } }) },
  };
  const text = { type: 'string' };
  const properties = { kind: text, note: text };
  const type: Json = {
    name: 'x',
    schemaDefinition: { allOf: [{}, { properties: { ...properties, list: { items: { properties } } } }] },
    metaDefinition: {
      order: [...level.order, 'list'],
      propertiesConfig: { ...level.propertiesConfig, list: { inputType: 'object', items: level } },
    },
  };
  const draft = readDraft(type);
  const noteOf = (written: Json) => configs(written).note;
  const inList = (written: Json) => record(record(record(configs(written).list).items).propertiesConfig).note;
  const list = draft.properties.find(({ name }) => name === 'list');
  const items = list?.items ?? [];
  const keyOf = (name: string) => items.find((item) => item.name === name)?.key ?? '';

  it('is removed with the property on which it is, and restored with it', () => {
    const without = change(draft, 'kind', { removed: true });
    expect(noteOf(writeDraft(without))).not.toHaveProperty('admin');
    expect(inList(writeDraft(without))).toMatchObject({ admin: { showIf: CONDITION } });
    expect(writeDraft(change(without, 'kind', { removed: false }))).toEqual(writeDraft(draft));
  });

  it('is removed with a property of the items of a list', () => {
    const without = items.map((item) => (item.name === 'kind' ? { ...item, removed: true } : item));
    const written = writeDraft(change(draft, 'list', { items: without }));
    expect(inList(written)).not.toHaveProperty('admin');
    expect(noteOf(written)).toMatchObject({ admin: { showIf: CONDITION } });
  });

  it('is removed with a new property, unless another one has the same name', () => {
    const names = (drafts: TypeDraft['properties']) => drafts.map(({ config }) => config.admin);
    expect(names(removeNewProperty(items, keyOf('kind')))).toEqual([undefined]);
    const double = [...items, newProperty('text', 'kind')];
    expect(names(removeNewProperty(double, double[2]?.key ?? ''))).toEqual(names(items));
    expect(removeNewProperty(items, 'unknown')).toEqual(items);
  });

  it('follows a renamed property of the same level', () => {
    const renamed = change(draft, 'list', { items: renameInLevel(items, keyOf('kind'), 'sort') });
    expect(inList(writeDraft(renamed))).toMatchObject({ admin: { showIf: { property: 'sort' } } });
    expect(noteOf(writeDraft(renamed))).toMatchObject({ admin: { showIf: CONDITION } });
    expect(renameInLevel(items, 'unknown', 'sort')).toEqual(items);
  });
});
