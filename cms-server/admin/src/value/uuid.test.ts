import { expect, it } from 'vitest';
import { uuid } from './uuid';

it('makes different lower-case UUIDs of version 4', () => {
  const all = Array.from({ length: 100 }, uuid);
  for (const id of all)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(all).size).toBe(100);
});
