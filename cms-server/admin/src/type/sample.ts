// Sample values for the preview of a form. Knows fields, no request.
import type { Field } from './form';

/** A value of the field's kind; undefined where only real objects make sense. */
function sampleValue(field: Field): unknown {
  if (field.default !== undefined) return field.default;
  switch (field.kind) {
    case 'text':
      return field.pattern === null ? field.label : undefined;
    case 'textarea':
    case 'markdown':
    case 'textMarkdown':
      return `${field.label}: the first line.\n\nThe second paragraph.`;
    case 'richtext':
      return `<h2>${field.name}</h2><p>A paragraph of text.</p>`;
    case 'email':
      return 'ada@example.com';
    case 'number':
      return Math.max(field.min ?? 12, Math.min(field.max ?? 12, 12));
    case 'checkbox':
      return true;
    case 'radio':
      return field.options[0]?.value;
    case 'select':
      if (!field.multiple) return field.options[0]?.value;
      return field.options.slice(0, 2).map(({ value }) => value);
    case 'dateTime':
      return field.time ? '2026-03-01T09:30' : '2026-03-01';
    case 'simpleList':
      return ['First', 'Second'];
    case 'geo':
      return { lat: 52.1, lon: 21 };
    case 'object':
      return [sampleValues(field.fields), sampleValues(field.fields)];
    case 'block':
      return {
        time: 0,
        version: '2.0.0',
        blocks: [{ id: 'a', type: 'paragraph', data: { text: 'A paragraph of text.' } }],
      };
    default:
      return undefined;
  }
}

export function sampleValues(fields: Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = sampleValue(field);
      return value === undefined ? [] : [[field.name, value] as const];
    }),
  );
}
