// A type with Draft & Public for flows of lists, and objects of it.
import type { Server } from './server';
import { createType, typeDefinition } from './types';

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
  await createType(server, newsDefinition());
  const objects = Array.from({ length: count }, (_, index) => ({
    id: `news-${String(index)}`,
    title: `News ${String(index).padStart(3, '0')}`,
    kind: 'local',
  }));
  await server.send('POST', '/api/v1/content/news/batch', objects);
}
