// A type that two people change: what each of them changed stays, and the difference is listed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record, records } from './definition';
import { conflictsOf, definitionChanges } from './definition-changes';
import { newProperty, withKind, type Json } from './property-draft';
import { rebase } from './rebase';
import types from './test-types.json';
import { isOutdated, readDraft, writeDraft, type TypeDraft } from './type-draft';

const definitions: Json[] = types;
const definition = (name: string): Json => record(definitions.find((type) => type.name === name));
const anyType = fc.constantFrom(...definitions);
const configs = (written: Json) => record(record(written.metaDefinition).propertiesConfig);
const schemas = (written: Json) =>
  record(record(records(record(written.schemaDefinition).allOf)[1]).properties);

type Property = TypeDraft['properties'][number];
function change(draft: TypeDraft, name: string, how: (property: Property) => Property): TypeDraft {
  return {
    ...draft,
    properties: draft.properties.map((property) => (property.name === name ? how(property) : property)),
  };
}
const withConfig = (key: string, value: unknown) => (property: Property) => ({
  ...property,
  config: { ...property.config, [key]: value },
});

describe('a type that somebody else has changed', () => {
  it('gets the edits of this user on top', () => {
    const mine = change(readDraft(definition('post')), 'excerpt', (old) => ({ ...old, removed: true }));
    const theirs = structuredClone(definition('post'));
    record(configs(theirs).title).label = 'Headline';
    theirs.label = 'Article';
    expect(isOutdated(mine, theirs)).toBe(true);
    const written = writeDraft(rebase(mine, theirs));
    expect(written.label).toBe('Article');
    expect(configs(written).title).toMatchObject({ label: 'Headline' });
    expect(configs(written)).not.toHaveProperty('excerpt');
  });

  it('is taken over completely by somebody who changed nothing', () => {
    fc.assert(
      fc.property(anyType, anyType, (base, theirs) => {
        expect(writeDraft(rebase(readDraft(base), theirs))).toEqual(theirs);
      }),
    );
  });

  it('keeps both changes if they are of different settings of one property', () => {
    fc.assert(
      fc.property(anyType, fc.nat(), fc.string(), fc.string(), (base, at, label, help) => {
        const draft = readDraft(base);
        const name = draft.properties[at % draft.properties.length]?.name ?? '';
        const mine = change(draft, name, withConfig('label', `mine ${label}`));
        const theirs = writeDraft(change(readDraft(base), name, withConfig('helpText', `theirs ${help}`)));
        const both = record(configs(writeDraft(rebase(mine, theirs)))[name]);
        expect(both).toMatchObject({ label: `mine ${label}`, helpText: `theirs ${help}` });
      }),
    );
  });

  it('keeps the kind that this user chose, and the label of the other user', () => {
    const mine = change(readDraft(definition('post')), 'title', (old) => withKind(old, 'number'));
    const theirs = writeDraft(
      change(readDraft(definition('post')), 'title', withConfig('label', 'Headline')),
    );
    const written = writeDraft(rebase(mine, theirs));
    expect(configs(written).title).toMatchObject({ label: 'Headline', inputType: 'number' });
    expect(schemas(written).title).toMatchObject({ type: 'number' });
  });

  it('has one property where both added it', () => {
    const withStock = (draft: TypeDraft, label: string) => ({
      ...draft,
      properties: [...draft.properties, withConfig('label', label)(newProperty('number', 'stock'))],
    });
    const mine = withStock(readDraft(definition('post')), 'Mine');
    const theirs = writeDraft(withStock(readDraft(definition('post')), 'Theirs'));
    const result = rebase(mine, theirs);
    const found = result.properties.filter(({ name }) => name === 'stock');
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ config: { label: 'Mine' }, stored: { config: { label: 'Theirs' } } });
  });
});

describe('the difference of two definitions', () => {
  it('is empty for the same definition, and is not for another one', () => {
    fc.assert(
      fc.property(anyType, anyType, (base, other) => {
        expect(definitionChanges(base, base)).toEqual([]);
        if (base.name !== other.name) expect(definitionChanges(base, other)).not.toEqual([]);
      }),
    );
  });

  it('names properties and settings, and the settings in conflict', () => {
    const base = definition('post');
    const theirs = change(readDraft(base), 'title', withConfig('label', 'Headline'));
    const mine = change(readDraft(base), 'title', withConfig('label', 'Name'));
    const [found, ...others] = definitionChanges(base, writeDraft(theirs));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ property: ['title'], change: 'changed' });
    expect(found?.settings).toMatchObject([{ path: 'label', after: 'Headline' }]);
    if (!found) throw new Error('no change');
    expect(conflictsOf(definitionChanges(base, writeDraft(mine)), found)).toEqual(['label']);
    expect(conflictsOf(definitionChanges(base, writeDraft(theirs)), found)).toEqual([]);
  });

  it('lists removed and added properties, and a changed kind', () => {
    const base = definition('post');
    const draft = readDraft(base);
    const changed = change(
      {
        ...draft,
        properties: [
          ...draft.properties.filter(({ name }) => name !== 'excerpt'),
          newProperty('number', 'stock'),
        ],
      },
      'title',
      (old) => withKind(old, 'number'),
    );
    const found = definitionChanges(base, writeDraft(changed));
    expect(found.map((one) => [one.change, one.property.join('.')])).toEqual([
      ['removed', 'excerpt'],
      ['changed', 'title'],
      ['added', 'stock'],
    ]);
    expect(found[1]?.settings).toMatchObject([{ path: 'kind', before: 'text', after: 'number' }]);
  });
});
