// A type with Draft & Public for flows of lists, and objects of it.
import type { Server } from './server';
import { expect } from './support';
import { typeDefinition } from './types';

export function newsDefinition(): Record<string, unknown> {
  return typeDefinition(
    'news',
    'News',
    {
      title: { inputType: 'text' },
      kind: { inputType: 'select', options: ['local', 'world'] },
      about: { inputType: 'datasource', relationContenttype: 'news' },
    },
    { draftPublic: true },
  );
}

export async function createNews(server: Server, count: number): Promise<void> {
  const defined = await server.request('POST', '/api/v1/internal/contenttype', newsDefinition());
  expect(defined.status, await defined.clone().text()).toBe(200);
  const objects = Array.from({ length: count }, (_, index) => ({
    id: `news-${String(index)}`,
    title: `News ${String(index).padStart(3, '0')}`,
    kind: 'local',
  }));
  const created = await server.request('POST', '/api/v1/content/news/batch', objects);
  expect(created.status, await created.clone().text()).toBe(200);
}
