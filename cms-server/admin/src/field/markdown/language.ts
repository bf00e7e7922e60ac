// The grammar of Markdown for CodeMirror, without the languages of code blocks and HTML.
import { defineLanguageFacet, Language, languageDataProp } from '@codemirror/language';
import { GFM, parser } from '@lezer/markdown';

const data = defineLanguageFacet({});

export const markdown = new Language(
  data,
  parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]),
  [],
  'markdown',
);
