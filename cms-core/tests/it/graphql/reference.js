// Checks schemas and queries with the reference implementation of GraphQL. Reads {schemas: [{sdl,
// introspection}], queries: [{schema, query}], introspection} from standard input, where the last
// `introspection` is the introspection query. Writes {differences: [[...]], errors: [[...]]}. Exits
// with 77 if the reference implementation is not installed.
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

// Implementations differ in the built-in types and directives, so these are left out.
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
    const errors = graphql.validateSchema(built[index]).map((error) => error.message);
    graphql.buildClientSchema(introspection);
    const ours = described(introspection);
    const theirs = described(graphql.graphqlSync({ schema: built[index], source }).data);
    const lines = ours.map((line, at) => [line, theirs[at]]).filter(([a, b]) => a !== b);
    return errors.concat(lines.slice(0, 5).map((pair) => pair.join(' <> ')));
  });
  const hints = / Did you mean (?!"\w+ \{)[^?]*\?$/;
  const errors = queries.map(({ schema, query }) => {
    let document;
    try {
      document = graphql.parse(query);
    } catch {
      return null;
    }
    return graphql.validate(built[schema], document).map((error) => error.message.replace(hints, ''));
  });
  process.stdout.write(JSON.stringify({ differences, errors }));
});
