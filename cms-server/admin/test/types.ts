// Content types for flows, as the API takes them.

interface Property {
  inputType: string;
  options?: string[];
  relationContenttype?: string;
}

/** A definition with optional text, select and relation properties; `title` names its objects. */
export function typeDefinition(
  name: string,
  label: string,
  properties: Record<string, Property>,
  extra: Record<string, unknown> = {},
): Record<string, unknown> {
  const schemas = Object.entries(properties).map(([key, { inputType }]) => {
    const links = { type: 'array', items: { $ref: '#/components/schemas/DataSource' } };
    return [key, inputType === 'datasource' ? links : { type: 'string' }] as const;
  });
  const configs = Object.entries(properties).map(([key, { inputType, options, relationContenttype }]) => {
    const config = {
      label: key.charAt(0).toUpperCase() + key.slice(1),
      inputType,
      unique: false,
      helpText: '',
      isTitlePart: key === 'title',
      ...(options && { options }),
      ...(relationContenttype && {
        validation: { relationContenttype, relationMultiple: false },
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
