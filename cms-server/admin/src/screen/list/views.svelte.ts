// Saved views of a type: own ones in the settings of the user, shared ones with the type. Knows requests.
import { sendRequest, api, sendOrThrow, type Schema } from '../../api/client';
import type { Problem } from '../../api/problem';
import { changeSettings, settings } from '../../session/settings.svelte';
import { record, records, string, strings } from '../../type/definition';

export interface View {
  id: string;
  name: string;
  definition: Record<string, unknown>;
  shared: boolean;
  /** Id of the user who shared it. */
  by: string | null;
}

/** Settings of a user for the lists of one type. */
interface OwnListSettings {
  views: View[];
  columns: string[] | null;
}

export function ownListSettings(type: string): OwnListSettings {
  return listSettingsOf(settings.area('lists'), type);
}

function listSettingsOf(lists: Record<string, unknown>, type: string): OwnListSettings {
  const item = record(lists[type]);
  return {
    views: records(item.views).flatMap((view) => {
      const [id, name] = [string(view.id), string(view.name)];
      return id && name ? [{ id, name, definition: record(view.definition), shared: false, by: null }] : [];
    }),
    columns: Array.isArray(item.columns) ? strings(item.columns) : null,
  };
}

/** Changes the settings of the user for lists of a type. */
export async function changeOwnListSettings(
  type: string,
  change: (item: OwnListSettings) => OwnListSettings,
): Promise<Problem | null> {
  return changeSettings('lists', (lists) => {
    const { views, columns } = change(listSettingsOf(lists, type));
    const stored = views.map(({ id, name, definition }) => ({ id, name, definition }));
    return { ...lists, [type]: { views: stored, ...(columns === null ? {} : { columns }) } };
  });
}

/** Stores the columns of the user for lists of a type; null restores the default. */
export function storeColumns(type: string, columns: string[] | null): Promise<Problem | null> {
  return changeOwnListSettings(type, (item) => ({ ...item, columns }));
}

export async function readShared(type: string, signal?: AbortSignal): Promise<View[]> {
  const found = await sendOrThrow(
    api.GET('/api/v1/internal/contenttype/{contentType}/views', {
      params: { path: { contentType: type }, query: { limit: 200 } },
      ...(signal && { signal }),
    }),
  );
  return found.data.map(shared);
}

function shared(view: Schema['SharedView']): View {
  return {
    id: view.id,
    name: view.name,
    definition: record(view.definition),
    shared: true,
    by: view.by.id ?? null,
  };
}

export async function updateView(
  type: string,
  view: View,
  definition: Record<string, unknown>,
): Promise<Problem | null> {
  if (!view.shared) {
    return changeOwnListSettings(type, (item) => ({
      ...item,
      views: item.views.map((other) => (other.id === view.id ? { ...other, definition } : other)),
    }));
  }
  const result = await sendRequest(
    api.PUT('/api/v1/internal/contenttype/{contentType}/views/{id}', {
      params: { path: { contentType: type, id: view.id } },
      body: { definition },
    }),
  );
  return 'problem' in result ? result.problem : null;
}

export async function removeView(type: string, view: View): Promise<Problem | null> {
  if (!view.shared) {
    return changeOwnListSettings(type, (item) => ({
      ...item,
      views: item.views.filter(({ id }) => id !== view.id),
    }));
  }
  const result = await sendRequest(
    api.DELETE('/api/v1/internal/contenttype/{contentType}/views/{id}', {
      params: { path: { contentType: type, id: view.id } },
    }),
  );
  return 'problem' in result ? result.problem : null;
}
