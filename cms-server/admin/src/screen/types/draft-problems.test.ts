// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { newProperty, withTypedText, type PropertyDraft } from '../../type/property-draft';
import { isChanged, newDraft, readDraft, renameProperty, writeDraft } from '../../type/type-draft';
import { draftProblems } from './draft-problems';

const draftWith = (...properties: PropertyDraft[]) => {
  const draft = newDraft();
  return { ...draft, definition: { ...draft.definition, name: 'recipe', label: 'Recipe' }, properties };
};
const problems = (...properties: PropertyDraft[]) =>
  draftProblems('+a', draftWith(...properties)).map(({ property, setting }) =>
    [...property, setting].join('.'),
  );
const withSchema = (property: PropertyDraft, schema: Record<string, unknown>) => ({
  ...property,
  schema: { ...property.schema, ...schema },
});
const withConfig = (property: PropertyDraft, config: Record<string, unknown>) => ({
  ...property,
  config: { ...property.config, ...config },
});

describe('a problem of a draft', () => {
  it('is a missing setting of a new type', () => {
    const found = draftProblems('+a', newDraft());
    expect(found.map(({ setting }) => setting)).toEqual(['label', 'name', 'properties']);
    expect(found.every(({ isMissing }) => isMissing)).toBe(true);
  });

  it('is a refused name or number, which stays in the draft', () => {
    const title = newProperty('text', 'title');
    expect(problems(title)).toEqual([]);
    expect(problems(withTypedText(title, 'name', 'id'))).toEqual(['title.name']);
    expect(problems(withTypedText(title, 'name', '1 x'))).toEqual(['title.name']);
    expect(problems(withTypedText(title, 'minLength', '-1.5'))).toEqual(['title.minLength']);
    expect(problems(withTypedText(withTypedText(title, 'name', '1 x'), 'name', undefined))).toEqual([]);
    const items = { ...newProperty('object', 'steps'), items: [withTypedText(title, 'name', '')] };
    expect(problems(items)).toEqual(['steps.title.name']);
  });

  it('is a default, a limit or an option that is not valid', () => {
    const count = newProperty('number', 'count');
    expect(problems(withSchema(count, { default: 'xyz' }))).toEqual(['count.default']);
    expect(problems(withSchema(newProperty('integer', 'count'), { default: 1.5 }))).toEqual([
      'count.default',
    ]);
    expect(problems(withSchema(count, { default: 1.5 }))).toEqual([]);
    expect(problems(withSchema(count, { minimum: 10, maximum: 1 }))).toEqual(['count.maximum']);
    const kind = newProperty('select', 'kind');
    expect(problems(kind)).toEqual(['kind.options']);
    expect(problems(withConfig(kind, { options: ['a', 'a'] }))).toEqual(['kind.options']);
    expect(problems(withConfig(kind, { options: ['a', ''] }))).toEqual(['kind.options']);
    expect(problems(withConfig(kind, { options: ['a', 'b'] }))).toEqual([]);
    expect(problems(withSchema(withConfig(kind, { options: ['a'] }), { default: 'b' }))).toEqual([
      'kind.default',
    ]);
    expect(problems(withConfig(count, { label: '' }))).toEqual(['count.label']);
  });

  it('is JSON that is no definition', () => {
    expect(draftProblems('+a', { ...newDraft(), json: '{' })).toMatchObject([{ setting: 'json' }]);
  });
});

describe('a refused text', () => {
  it('is a change until a valid name replaces it', () => {
    const stored = writeDraft(draftWith(newProperty('text', 'title')));
    const draft = readDraft(stored);
    const [title] = draft.properties;
    if (!title) throw new Error('no property');
    const refused = { ...draft, properties: [withTypedText(title, 'name', 'id')] };
    expect(isChanged(refused)).toBe(true);
    expect(writeDraft(refused)).toEqual(stored);
    expect(isChanged(renameProperty(refused, title.key, 'title'))).toBe(false);
  });
});
