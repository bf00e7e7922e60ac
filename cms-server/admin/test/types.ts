// Content types for flows, as the API takes them, and the builder that shows them.
import type { Locator, Page } from '@playwright/test';
import type { Server } from './server';

interface Property {
  inputType: string;
  options?: string[];
  relationContenttype?: string;
  /** The relation has several links. */
  many?: boolean;
}

const LINKS = { type: 'array', items: { $ref: '#/components/schemas/DataSource' } };
const SCHEMAS: Record<string, unknown> = {
  custom: { type: 'object' },
  datasource: LINKS,
  number: { type: 'integer' },
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

export interface Definition {
  label: string;
  draftPublic?: boolean;
  slugs?: unknown;
  schemaDefinition: { allOf: { properties?: Record<string, unknown> }[] };
  metaDefinition: {
    order: string[];
    propertiesConfig: Record<string, Record<string, unknown>>;
    admin?: Record<string, unknown>;
  };
}

export async function createType(server: Server, definition: unknown): Promise<void> {
  await server.send('POST', '/api/v1/internal/contenttype', definition);
}

export function readType(server: Server, name: string): Promise<Definition> {
  return server.send('GET', `/api/v1/internal/contenttype/${name}`);
}

/** Changes the definition of a type as another program does. */
export async function changeType(
  server: Server,
  name: string,
  change: (type: Definition) => void,
): Promise<void> {
  const type = await readType(server, name);
  change(type);
  await server.send('PUT', `/api/v1/internal/contenttype/${name}`, type);
}

export function enableDraftPublic(server: Server, name: string): Promise<void> {
  return changeType(server, name, (type) => (type.draftPublic = true));
}

export const plan = (page: Page): Locator => page.getByRole('region', { name: 'Plan' });
export const apply = (page: Page): Locator => plan(page).getByRole('button', { name: 'Apply' });
/** A property of the builder that is closed. */
export const property = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('list', { name: 'Properties' }).first().getByRole('button', { name, expanded: false });
