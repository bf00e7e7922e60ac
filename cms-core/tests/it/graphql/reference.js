// Asks the reference implementation of GraphQL about schemas and queries that come on standard
// input as {schemas: [{sdl, introspection}], queries: [{schema, query}], introspection}, where the
// last is the query for an introspection. Answers with
// {differences: [[...]], faults: [[...]]}. Ends with 77 where there is no such implementation.
let graphql;
try {
  graphql = require('graphql');
} catch {
  process.exit(77);
}

const sorted = (value) => {
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    const name = (item) => (item && item.name) || JSON.stringify(item);
    return items.sort((a, b) => (name(a) < name(b) ? -1 : 1));
  }
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
  }
  return value;
};

// Texts of the built-in types and directives are each implementation's own.
const described = (introspection) => {
  const schema = structuredClone(introspection.__schema);
  const isOwn = (type) => !type.name.startsWith('__') && !graphql.specifiedScalarTypes.some((s) => s.name === type.name);
  schema.types = schema.types.filter(isOwn);
  delete schema.directives;
  delete schema.description;
  return JSON.stringify(sorted(schema), null, 1).split('\n');
};

let text = '';
process.stdin.on('data', (part) => (text += part));
process.stdin.on('end', () => {
  const { schemas, queries, introspection: source } = JSON.parse(text);
  const built = schemas.map(({ sdl }) => graphql.buildSchema(sdl));
  const differences = schemas.map(({ introspection }, index) => {
    const faults = graphql.validateSchema(built[index]).map((fault) => fault.message);
    graphql.buildClientSchema(introspection);
    const ours = described(introspection);
    const theirs = described(graphql.graphqlSync({ schema: built[index], source }).data);
    const lines = ours.map((line, at) => [line, theirs[at]]).filter(([a, b]) => a !== b);
    return faults.concat(lines.slice(0, 5).map((pair) => pair.join(' <> ')));
  });
  const hints = / Did you mean (?!"\w+ \{)[^?]*\?$/;
  const faults = queries.map(({ schema, query }) => {
    let document;
    try {
      document = graphql.parse(query);
    } catch {
      return null;
    }
    return graphql.validate(built[schema], document).map((fault) => fault.message.replace(hints, ''));
  });
  process.stdout.write(JSON.stringify({ differences, faults }));
});
