// Build step: texts are loaded with the code that uses them, as style sheets are. Each `import('./X')` waits
// for the texts of `X` and of what it imports; they are found by the name of their area (`t.list.count`).
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const SOURCE = resolve(import.meta.dirname, 'src');
const TEXT = join(SOURCE, 'text');

/** The file of each group of texts: `src/text/en/console.ts` has those of `t.apiConsole`. */
function areaFiles(): Map<string, string> {
  const files = readdirSync(join(TEXT, 'en')).filter((file) => file !== 'index.ts');
  return new Map(
    files.flatMap((file) => {
      const source = readFileSync(join(TEXT, 'en', file), 'utf8');
      const groups = [...source.matchAll(/^export const (\w+)/gm)];
      return groups.map(([, group = '']): [string, string] => [group, file.replace(/\.ts$/, '')]);
    }),
  );
}

function resolved(from: string, specifier: string): string | undefined {
  const path = resolve(dirname(from), specifier);
  return ['', '.ts', '.svelte', '/index.ts']
    .map((end) => path + end)
    .find((file) => existsSync(file) && statSync(file).isFile());
}

/** What a module imports when it is loaded. */
const STATIC_IMPORT =
  /^\s*(?:import(?!\s+type\b|\s*\()|export\b[^;'"]*?\bfrom)\b[^;'"]*?(['"])(\.[^'"]+)\1/gm;

/** A module and all that is loaded with it, by path, with their sources. */
function closureOf(module: string): Map<string, string> {
  const seen = new Map<string, string>();
  const open = [module];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    const source = readFileSync(file, 'utf8');
    seen.set(file, source);
    for (const [, , specifier = ''] of source.matchAll(STATIC_IMPORT)) {
      const next = resolved(file, specifier);
      if (next !== undefined && /\.(ts|svelte)$/.test(next)) open.push(next);
    }
  }
  return seen;
}

/** The names of the text files that a module and its imports use. */
export function areasOf(module: string): string[] {
  const files = areaFiles();
  const areas = new Set<string>();
  for (const [file, source] of closureOf(module)) {
    if (file.startsWith(TEXT)) continue;
    for (const [, group = ''] of source.matchAll(/\bt\.(\w+)/g)) {
      const area = files.get(group);
      if (area !== undefined) areas.add(area);
    }
  }
  return [...areas].sort();
}

interface Chunk {
  name: string;
  test: (id: string) => boolean;
  priority: number;
}

/**
 * The code that every screen needs is one file, `base`: fewer requests, and shorter lists of files that a screen
 * loads. The code that starts the page is a small file, `entry`, which is loaded in parallel.
 */
export function firstChunks(): Chunk[] {
  const entry = closureOf(join(SOURCE, 'main.ts'));
  const base = closureOf(join(SOURCE, 'start.ts'));
  const isIn = (files: Map<string, string>) => (id: string) => files.has(id.split('?')[0] ?? '');
  // Used by the first list, and smaller than the overhead of a file.
  const small = /\/src\/(value\/uuid|ui\/debounce)\.ts$/;
  const packages = /\/node_modules\/(svelte|@tanstack|openapi-fetch|idb-keyval|esm-env|clsx)\//;
  return [
    { name: 'entry', test: (id) => isIn(entry)(id) || /preload-helper|rolldown/.test(id), priority: 2 },
    { name: 'base', test: (id) => isIn(base)(id) || packages.test(id) || small.test(id), priority: 1 },
  ];
}

export function texts(): Plugin {
  return {
    name: 'texts',
    // `base` is loaded in parallel with `entry`, not after it.
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) => {
        const base = Object.values(bundle ?? {}).find(({ fileName }) => /\/base-[^/]*\.js$/.test(fileName));
        if (base?.type !== 'chunk') return [];
        const { importedCss = new Set<string>() } = base.viteMetadata ?? {};
        return [
          {
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/admin/${base.fileName}` },
            injectTo: 'head' as const,
          },
          ...[...importedCss].map((css) => ({
            tag: 'link',
            attrs: { rel: 'stylesheet', crossorigin: true, href: `/admin/${css}` },
            injectTo: 'head' as const,
          })),
        ];
      },
    },
    transform(code, id) {
      const [file = ''] = id.split('?');
      if (id !== file || !file.startsWith(SOURCE)) return undefined;
      let found = false;
      const changed = code.replace(
        /\bimport\(\s*(['"])(\.[^'"]+)\1\s*\)/g,
        (call, _quote, specifier: string) => {
          const module = resolved(file, specifier);
          const areas = module === undefined || module.startsWith(TEXT) ? [] : areasOf(module);
          if (areas.length === 0) return call;
          found = true;
          return `withTexts(${JSON.stringify(areas)}, ${call})`;
        },
      );
      if (!found) return undefined;
      // On the first line, so that the lines of the source map stay correct.
      return {
        code: `import { withTexts } from ${JSON.stringify(join(TEXT, 'index.ts'))};${changed}`,
        map: null,
      };
    },
  };
}

/** Files of texts have their language in the name: `assets/en-list-<hash>.js`. */
export function chunkFileNames({ facadeModuleId }: { facadeModuleId: string | null }): string {
  const [, language] = /\/src\/text\/(\w+)\/[^/]+$/.exec(facadeModuleId ?? '') ?? [];
  return language === undefined ? 'assets/[name]-[hash].js' : `assets/${language}-[name]-[hash].js`;
}
