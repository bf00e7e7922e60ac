import { describe, expect, it } from 'vitest';
import { yamlOf } from './yaml';

describe('YAML', () => {
  it('writes outer members on lines of their own', () => {
    const value = { name: 'post', properties: { title: { type: 'text', required: true } }, slugs: {} };
    expect(yamlOf(value, 2)).toBe(
      'name: post\nproperties:\n  title: {type: text, required: true}\nslugs: {}',
    );
  });

  it('quotes texts that YAML reads as something else', () => {
    const value = { a: ['yes', 'null', '12', '', 'a: b', 'x, y', 'é', '^[a-z]*$', ' a', 'a '] };
    expect(yamlOf(value, 1)).toBe(
      'a: ["yes", "null", "12", "", "a: b", "x, y", "é", "^[a-z]*$", " a", "a "]',
    );
  });
});
