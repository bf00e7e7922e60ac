// Content type definitions that the page has edited, as types of the OpenAPI document. They may be invalid while they
// are edited: the server validates them.
import type { Schema } from './client';

export type Definition = Schema['ContentTypeDefinitionSchema'];

export function asDefinition(edited: Record<string, unknown>): Definition {
  return edited as Definition;
}
