// Markdown for CodeMirror: the grammar without the languages that can be inside it.
import { defineLanguageFacet, Language, languageDataProp } from '@codemirror/language';
import { GFM, parser } from '@lezer/markdown';

const data = defineLanguageFacet({});

export const markdown = new Language(
  data,
  parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]),
  [],
  'markdown',
);
