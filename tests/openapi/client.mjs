// Generates clients from a server's OpenAPI document and its management document, compiles them with a program that
// uses them, and runs the program: node client.mjs URL KEY FOLDER. The server needs the Draft & Public type `news`.
import { createClient } from '@hey-api/openapi-ts';
import { execFileSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [url, key, folder] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

async function generate(name, query) {
  const response = await fetch(`${url}/api/v1/open-api-schema.json${query}`, { headers: { 'X-AUTH-TOKEN': key } });
  if (!response.ok) throw new Error(`the OpenAPI document: ${response.status}`);
  const document = join(folder, `${name}.json`);
  writeFileSync(document, await response.text());
  await createClient({
    input: document,
    output: { path: join(folder, name), module: { extension: '.js' } },
    logs: { level: 'silent' },
  });
}
await generate('client', '');
await generate('management', '?management=1');

copyFileSync(join(here, 'program.ts'), join(folder, 'program.ts'));
symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
const options = {
  strict: true,
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  skipLibCheck: true,
  outDir: 'built',
};
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({ compilerOptions: options, include: ['program.ts', 'client', 'management'] }),
);
const run = (...command) => execFileSync(process.execPath, command, { cwd: folder, stdio: 'inherit' });
run(join(here, 'node_modules/typescript/bin/tsc'), '-p', '.');
run('built/program.js', url, key);
