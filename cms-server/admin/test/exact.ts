// Values that JavaScript would change, for flows that expect them unchanged.
import type { Server } from './server';
import { expect } from './support';
import { createType, typeDefinition } from './types';

/** A type with numbers that JavaScript cannot store exactly. */
export async function createSheetType(server: Server): Promise<void> {
  const properties = {
    title: { inputType: 'text' },
    count: { inputType: 'number' },
    extra: { inputType: 'custom' },
  };
  await createType(server, typeDefinition('sheet', 'Sheet', properties));
}

/** Sends JSON without parsing it: its numbers have more digits than JavaScript can store. */
export async function send(server: Server, method: string, path: string, text: string): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/content/${path}`, {
    method,
    headers: { 'X-AUTH-TOKEN': 'a'.repeat(40), 'Content-Type': 'application/json' },
    ...(method !== 'GET' && { body: text }),
  });
  expect(response.status).toBe(200);
  return response.text();
}
