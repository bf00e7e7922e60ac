// Content types for flows, as the API takes them.

interface Property {
  inputType: string;
  options?: string[];
  relationContenttype?: string;
  /** The relation has several links. */
  many?: boolean;
}

const LINKS = { type: 'array', items: { $ref: '#/components/schemas/DataSource' } };
const SCHEMAS: Record<string, unknown> = {
  datasource: LINKS,
  simpleList: { type: 'array', items: { type: 'string' } },
};

/** A definition with optional text, select, list and relation properties; `title` names its objects. */
export function typeDefinition(
  name: string,
  label: string,
  properties: Record<string, Property>,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  const schemas = Object.entries(properties).map(
    ([key, { inputType }]) => [key, SCHEMAS[inputType] ?? { type: 'string' }] as const,
  );
  const configs = Object.entries(properties).map(([key, property]) => {
    const { inputType, options, relationContenttype, many = false } = property;
    const config = {
      label: key.charAt(0).toUpperCase() + key.slice(1),
      inputType,
      unique: false,
      helpText: '',
      isTitlePart: key === 'title',
      ...(options && { options }),
      ...(relationContenttype && {
        validation: { relationContenttype, relationMultiple: many },
      }),
    };
    return [key, config] as const;
  });
  return {
    name,
    label,
    schemaDefinition: {
      type: 'object',
      allOf: [
        { $ref: '#/components/schemas/AbstractContentTypeSchemaDefinition' },
        { type: 'object', properties: Object.fromEntries(schemas) },
      ],
      required: [],
      additionalProperties: false,
    },
    metaDefinition: { order: Object.keys(properties), propertiesConfig: Object.fromEntries(configs) },
    ...extra,
  };
}
