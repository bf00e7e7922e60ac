import { expect, it } from 'vitest';
import { readContentType } from './definition';
import { formOf, isShown } from './form';

it('a field with a condition on a property that does not exist is shown', () => {
  const note = { inputType: 'text', admin: { showIf: { property: 'gone', equals: 'a' } } };
  const kept = { inputType: 'text', admin: { showIf: { property: 'note', equals: 'a' } } };
  const level = { order: ['note', 'kept'], propertiesConfig: { note, kept } };
  const properties = { note: { type: 'string' }, kept: { type: 'string' } };
  const { fields } = formOf(
    readContentType({
      name: 'x',
      schemaDefinition: { properties: { ...properties, list: { type: 'array', items: { properties } } } },
      metaDefinition: {
        order: [...level.order, 'list'],
        propertiesConfig: { ...level.propertiesConfig, list: { inputType: 'object', items: level } },
      },
    }),
  );
  const items = fields.find(({ name }) => name === 'list')?.fields ?? [];
  for (const level of [fields, items]) {
    const shown = level.filter((field) => isShown(field, { note: 'b' })).map(({ name }) => name);
    expect(shown.filter((name) => name !== 'list')).toEqual(['note']);
  }
});
