import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { areasOf } from '../../texts';

const SOURCE = join(import.meta.dirname, '..');

describe('texts', () => {
  it('are loaded with the screen that uses them', () => {
    const list = areasOf(join(SOURCE, 'screen/list/List.svelte'));
    expect(list).toEqual(expect.arrayContaining(['common', 'list']));
    expect(list).not.toContain('publishing');
    expect(areasOf(join(SOURCE, 'start.ts'))).toContain('shell');
  });

  it('are read as `t.<area>`, because the build looks for the names of areas', () => {
    const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.(ts|svelte)$/.test(file) && !/^text\b|\.test\.ts$/.test(file),
    );
    for (const file of sources) {
      const source = readFileSync(join(SOURCE, file), 'utf8');
      if (/import \{[^}]*\bt\b[^}]*\} from '.*\/text'/.test(source))
        expect(source.replace(/^\s*import [^;]*;/gm, ''), file).not.toMatch(
          /[=(,:] *t *[;,)[]|\bt as\b|\bt\[/,
        );
    }
  });
});
