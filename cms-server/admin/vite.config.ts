// Builds the page, and serves it during development beside a running server (CMS_SERVER).
import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { licences } from './licences';
import { baseChunk, chunkFileNames, texts } from './texts';

const server = process.env.CMS_SERVER ?? 'http://127.0.0.1:8080';
const paths = ['/api', '/image', '/media', '/readyz', '/healthz', '/metrics', '/docs'];
const proxy = Object.fromEntries(paths.map((path) => [path, { target: server }]));
/** As the server writes it, with the origins of its setting `preview-origins`. */
const policy = readFileSync('policy.txt', 'utf8')
  .trim()
  .replace("frame-src 'self'", `frame-src 'self' ${process.env.PAGE_FRAMES ?? ''}`.trim());

/** The server shows the page at `/admin` too; Vite only below `/admin/`. */
const baseWithoutSlash: Plugin = {
  name: 'base-without-slash',
  configurePreviewServer: ({ middlewares }) => {
    middlewares.use((request, _response, next) => {
      if (request.url?.replace(/\?.*/, '') === '/admin')
        request.url = request.url.replace('/admin', '/admin/');
      next();
    });
  },
};

export default defineConfig({
  base: '/admin/',
  plugins: [svelte(), texts(), baseWithoutSlash, licences()],
  server: { proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': policy } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: { output: { chunkFileNames, codeSplitting: { groups: [baseChunk()] } } },
  },
});
