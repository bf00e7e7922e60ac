// Content type definitions as the API sends them, read without trusting their structure.
import { firstCharacter } from '../value/character';
import { isRecord } from '../value/record';

/** A content type, as much of it as the page reads. */
export interface ContentType {
  id: string;
  name: string;
  label: string;
  draftPublic: boolean;
  internal: boolean;
  workflowId: string | null;
  /** Readers see an object only in the state `public` of its workflow. */
  restrictsReaders: boolean;
  /** Target property -> source property of generated slugs; rules that are switched off are left out. */
  slugs: { target: string; source: string }[];
  schema: Record<string, unknown>;
  meta: Record<string, unknown>;
  admin: TypeHints;
}

/** `metaDefinition.admin`: hints of the type for the page. */
export interface TypeHints {
  group: string | null;
  /** One character, shown before the label; empty for none. */
  icon: string;
  single: boolean;
  columns: string[];
  order: string | null;
  previewUrl: string | null;
  tabs: { label: string; properties: string[] }[];
}

/** Reads an item of `GET /api/v1/internal/contenttype`. Its workflow is taken for one with a state `public`. */
export function readContentType(value: unknown): ContentType {
  const item = isRecord(value) ? value : {};
  const meta = record(item.metaDefinition);
  const workflowId = string(item.workflowId);
  return {
    id: string(item.id) ?? '',
    name: string(item.name) ?? '',
    // The server adds a word to the labels of built-in types that says nothing to an editor.
    label: (string(item.label) ?? string(item.name) ?? '').replace(/ \(internal\)$/, ''),
    draftPublic: item.draftPublic === true,
    internal: item.internal === true,
    workflowId,
    restrictsReaders: hasWorkflow({ workflowId }),
    slugs: records(item.slugs).flatMap((slug) => {
      const target = string(slug.target);
      const source = string(slug.source);
      return target && source && slug.active !== false ? [{ target, source }] : [];
    }),
    schema: record(item.schemaDefinition),
    meta,
    admin: readHints(record(meta.admin)),
  };
}

/** Returns whether objects of the type move through states; the workflow `generic` has one state, no transitions. */
export function hasWorkflow({ workflowId }: Pick<ContentType, 'workflowId'>): boolean {
  return workflowId !== null && workflowId !== '' && workflowId !== 'generic';
}

function readHints(admin: Record<string, unknown>): TypeHints {
  return {
    group: string(admin.group),
    icon: firstCharacter(string(admin.icon) ?? ''),
    single: admin.single === true,
    columns: strings(admin.columns),
    order: string(admin.order),
    previewUrl: string(admin.previewUrl),
    tabs: records(admin.tabs).map((tab) => ({
      label: string(tab.label) ?? '',
      properties: strings(tab.properties),
    })),
  };
}

export function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function string(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
