// Operations of an OpenAPI document, read without trusting its structure. Plain values.
import { record } from '../../type/definition';
import { isRecord } from '../../value/record';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  help: string;
  type: 'text' | 'boolean' | 'list';
  options: string[];
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  parameters: Parameter[];
  /** Example of the body; null when there is none, `undefined` when it is not JSON. */
  body: unknown;
}

type Fields = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const MAX_DEPTH = 5;

/** All operations of a document, in its order. */
export function readOperations(value: unknown): Operation[] {
  const document = record(value);
  return Object.entries(record(document.paths)).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = record(item)[method];
      return isRecord(operation) ? [readOperation(document, path, method, operation)] : [];
    }),
  );
}

function readOperation(document: Fields, path: string, method: string, operation: Fields): Operation {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  const tags: unknown[] = Array.isArray(operation.tags) ? operation.tags : [];
  return {
    id: text(operation.operationId),
    method: method.toUpperCase(),
    path,
    tag: text(tags[0]),
    summary: text(operation.summary),
    parameters: parameters.flatMap((one) => readParameter(document, one)),
    body: bodyOf(document, operation),
  };
}

function readParameter(document: Fields, value: unknown): Parameter[] {
  const parameter = resolve(document, value);
  const where = parameter.in;
  if (where !== 'path' && where !== 'query' && where !== 'header') return [];
  const schema = resolve(document, parameter.schema);
  return [
    {
      name: text(parameter.name),
      in: where,
      required: parameter.required === true,
      help: text(parameter.description),
      type: schema.type === 'boolean' ? 'boolean' : schema.type === 'array' ? 'list' : 'text',
      options: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
    },
  ];
}

function bodyOf(document: Fields, operation: Fields): unknown {
  if (!isRecord(operation.requestBody)) return null;
  const json = record(resolve(document, operation.requestBody).content)['application/json'];
  if (!isRecord(json)) return undefined;
  return json.example ?? exampleOf(document, json.schema, 0);
}

/** Follows a reference inside the document. */
function resolve(document: Fields, value: unknown): Fields {
  const found = record(value);
  if (typeof found.$ref !== 'string') return found;
  let at: unknown = document;
  for (const step of found.$ref.replace(/^#\//, '').split('/')) at = record(at)[step];
  return record(at);
}

/** A value of a schema: the smallest that shows its members. */
function exampleOf(document: Fields, value: unknown, depth: number): unknown {
  const schema = resolve(document, value);
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (depth > MAX_DEPTH) return null;
  const parts = [schema.allOf, schema.anyOf, schema.oneOf].find(Array.isArray);
  if (parts) {
    const examples: unknown[] = parts.map((part) => exampleOf(document, part, depth + 1));
    if (!Array.isArray(schema.allOf)) return examples[0];
    return Object.fromEntries(examples.filter(isRecord).flatMap(Object.entries));
  }
  if (schema.type === 'array') return [exampleOf(document, schema.items, depth + 1)];
  if (isRecord(schema.properties))
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, exampleOf(document, part, depth + 1)]),
    );
  const simple: Fields = { string: '', integer: 0, number: 0, boolean: false, object: {} };
  return simple[text(schema.type)] ?? null;
}

/** Operations whose name, path or summary has all words of a text. */
export function findOperations(operations: Operation[], typed: string): Operation[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ id, method, path, summary, tag }) => {
    const all = `${id} ${method} ${path} ${summary} ${tag}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
