// Unit tests: plain modules, without a browser. Components are tested in a real one, by the flows.
// A file that needs a document names jsdom in its first line: to start jsdom takes longer than most files.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  resolve: { conditions: ['browser'] },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
    pool: 'threads',
    maxWorkers: '100%',
    setupFiles: ['vitest.setup.ts'],
    testTimeout: 30_000,
    server: { deps: { inline: [/svelte/] } },
  },
});
