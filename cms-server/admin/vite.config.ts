// Builds the page, and serves it during development beside a running server (CMS_SERVER).
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { licences } from './licences';
import { chunkFileNames, firstChunks, texts } from './texts';

const server = process.env.CMS_SERVER ?? 'http://127.0.0.1:8080';
const paths = ['/api', '/image', '/media', '/readyz', '/healthz', '/metrics', '/docs'];
const proxy = Object.fromEntries(paths.map((path) => [path, { target: server }]));
/** The policy as the server sends it, with the origins of its setting `preview-origins`. */
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

/** Compresses files as the server does, so that loading times can be measured. */
const compressed: Plugin = {
  name: 'compressed',
  configurePreviewServer: ({ middlewares }) => {
    const types: Record<string, string> = { js: 'text/javascript', css: 'text/css' };
    middlewares.use((request, response, next) => {
      const [, name = '', end = ''] = /^\/admin(\/assets\/[\w.-]+\.(js|css))$/.exec(request.url ?? '') ?? [];
      if (!existsSync(`dist${name}`) || name === '') {
        next();
        return;
      }
      response.setHeader('Content-Type', types[end] ?? '');
      response.setHeader('Content-Encoding', 'gzip');
      response.end(gzipSync(readFileSync(`dist${name}`)));
    });
  },
};

export default defineConfig({
  base: '/admin/',
  plugins: [svelte(), texts(), baseWithoutSlash, compressed, licences()],
  server: { proxy },
  preview: { proxy, headers: { 'Content-Security-Policy': policy } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: { output: { chunkFileNames, codeSplitting: { groups: firstChunks() } } },
  },
});
