// JSON values as YAML: the members of the outer levels on lines of their own, the rest in braces. Knows no
// content type.
import { isRecord } from './record';

/** Plain text that YAML reads as a string, also inside braces. */
const PLAIN_SCALAR = /^[A-Za-z_][A-Za-z0-9_ ./-]*$/;
const RESERVED_SCALAR = /^(true|false|yes|no|on|off|null|y|n)$/i;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  const plain = PLAIN_SCALAR.test(value) && !RESERVED_SCALAR.test(value) && !value.endsWith(' ');
  return plain ? value : JSON.stringify(value);
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (!isRecord(value)) return scalar(value);
  const members = Object.entries(value).map(([key, member]) => `${scalar(key)}: ${flow(member)}`);
  return `{${members.join(', ')}}`;
}

/** The members of `value` as YAML, with the outer `levels` as blocks. */
export function yamlOf(value: Record<string, unknown>, levels: number, indent = ''): string {
  return Object.entries(value)
    .map(([key, member]) => {
      if (levels > 1 && isRecord(member) && Object.keys(member).length > 0)
        return `${indent}${scalar(key)}:\n${yamlOf(member, levels - 1, `${indent}  `)}`;
      return `${indent}${scalar(key)}: ${flow(member)}`;
    })
    .join('\n');
}
