// How large an object is for the server, and which property takes most of it. Plain values.
import type { Values } from './form-state.svelte';

export interface ObjectSize {
  bytes: number;
  largest: { name: string; bytes: number };
}

const encoder = new TextEncoder();

/** Bytes of the values as compact JSON: this is what the server limits. */
export function objectSize(values: Values): ObjectSize {
  const largest = { name: '', bytes: 0 };
  let bytes = 2;
  for (const [name, value] of Object.entries(values)) {
    const text = JSON.stringify({ [name]: value });
    // Without the braces, with a comma.
    const size = encoder.encode(text).length - 1;
    bytes += size;
    if (size > largest.bytes) Object.assign(largest, { name, bytes: size });
  }
  return { bytes: Math.max(2, bytes - 1), largest };
}
