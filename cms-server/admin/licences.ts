// Build step: writes LICENSES.txt from the packages that are really in the page, and fails on a licence
// that we do not ship.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const ALLOWED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'MIT OR Apache-2.0'];

interface Package {
  name: string;
  version: string;
  licence: string;
  text: string;
}

/** The folder of the package that a module is in, or null for our own. */
function packageFolder(id: string): string | null {
  const path = id.replace(/^\0/, '').replace(/\?.*$/, '');
  if (!path.includes('/node_modules/')) return null;
  for (let folder = dirname(path); folder.includes('/node_modules/'); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && 'version' in readJson(file)) return folder;
  }
  return null;
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
}

function readPackage(folder: string): Package {
  const { name, version, license } = readJson(join(folder, 'package.json'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return {
    name: String(name),
    version: String(version),
    licence: String(license),
    text: file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim(),
  };
}

export function licences(): Plugin {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== null));
      const packages = [...folders].map(readPackage).sort((a, b) => a.name.localeCompare(b.name));
      for (const { name, licence, text } of packages) {
        if (!ALLOWED.includes(licence)) this.error(`${name} has the licence ${licence}`);
        if (text === '') this.error(`${name} has no licence file`);
      }
      const source = packages
        .map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}\n`)
        .join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source });
    },
  };
}
