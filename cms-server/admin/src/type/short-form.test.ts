import { describe, expect, it } from 'vitest';
import { record, records, strings } from './definition';
import { expandProperty, labelOf, projectForm } from './short-form';
import types from './test-types.json';

describe('short form', () => {
  it.each([
    ['headerImage', 'Header image'],
    ['header_image', 'Header image'],
    ['__translations', 'Translations'],
    ['name', 'Name'],
  ])('makes a label of the name %s', (name, label) => {
    expect(labelOf(name)).toBe(label);
  });

  it.each(['author', 'place', 'product', 'event', 'post'])('writes %s as a project file does', (name) => {
    const definition = record(types.find((type) => type.name === name));
    const short = projectForm(definition);
    expect(short).not.toHaveProperty('schemaDefinition');
    expect(Object.keys(record(short.properties))).toEqual(strings(record(definition.metaDefinition).order));
  });

  it('writes rules of a type and the length of a text', () => {
    const definition = structuredClone(record(types.find((type) => type.name === 'author')));
    const parts = records(record(definition.schemaDefinition).allOf);
    record(record(record(parts[1]).properties).name).maxLength = 80;
    Object.assign(record(definition.metaDefinition), {
      applyDefaults: true,
      uniqueTogether: [['name', 'slug']],
    });
    const short = projectForm(definition);
    expect(short).toMatchObject({ applyDefaults: true, uniqueTogether: [['name', 'slug']] });
    expect(record(record(short.properties).name).maxLength).toBe(80);
  });

  it('keeps the form of the API if the short form cannot express a definition', () => {
    const definition = structuredClone(record(types.find((type) => type.name === 'author')));
    const parts = records(record(definition.schemaDefinition).allOf);
    record(record(parts[1]).properties).name = { type: 'string', minLength: 1, title: 'Name' };
    expect(projectForm(definition)).toHaveProperty('schemaDefinition');
  });

  it('expands a relation', () => {
    expect(expandProperty('cook', { type: 'datasource', to: 'author', required: true })).toEqual({
      schema: { type: 'array', items: { $ref: '#/components/schemas/DataSource' }, minItems: 1 },
      config: {
        label: 'Cook',
        inputType: 'datasource',
        unique: false,
        validation: { relationMultiple: false, relationContenttype: 'author' },
      },
      required: true,
    });
  });
});
