// Content type definitions that the page has edited, as the document of the API types them. The server checks
// them: a definition may be wrong while it is edited.
import type { Schema } from './client';

export type Definition = Schema['ContentTypeDefinitionSchema'];

export function asDefinition(edited: Record<string, unknown>): Definition {
  return edited as Definition;
}
