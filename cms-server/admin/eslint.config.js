// Rules of the page: strict TypeScript, no HTML from strings, imports that go down only.
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

/** Folders from the top layer to the lowest: a file imports from its own layer and those after it. */
const layers = ['screen', 'field', 'ui', 'object', 'session', 'type', 'api', 'text', 'value'];

const layerRules = layers.slice(1).map((layer, index) => ({
  files: [`src/${layer}/**/*`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: layers.slice(0, index + 1).map((upper) => ({
          group: [`../${upper}/*`, `../../${upper}/*`, `../../../${upper}/*`],
          message: `${layer} must not know ${upper}.`,
        })),
      },
    ],
  },
}));

const noStringsAsHtml = {
  'no-restricted-properties': [
    'error',
    { property: 'innerHTML', message: 'Build nodes, or parse with text/html.ts.' },
    { property: 'outerHTML', message: 'Build nodes, or parse with text/html.ts.' },
    { property: 'insertAdjacentHTML', message: 'Build nodes, or parse with text/html.ts.' },
  ],
};

export default ts.config(
  { ignores: ['dist/', 'src/api/schema.d.ts', 'test/results/', 'test/report/'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    rules: {
      'svelte/no-at-html-tags': 'error',
      // The security policy refuses style attributes; `style:` directives set properties by script.
      'no-restricted-syntax': [
        'error',
        { selector: "SvelteAttribute[key.name='style']", message: 'Use a class, or a style: directive.' },
      ],
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "MemberExpression[object.name='t']:not(:function MemberExpression):not(PropertyDefinition MemberExpression)",
          message: 'A module may be loaded before its texts: read them in a function.',
        },
      ],
    },
  },
  {
    rules: {
      ...noStringsAsHtml,
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      // Plain sets and maps are allowed: components show only state, which is reactive.
      'svelte/prefer-svelte-reactivity': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    },
  },
  // Flows are lists of steps.
  {
    files: ['test/**'],
    rules: { 'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }] },
  },
  ...layerRules,
);
