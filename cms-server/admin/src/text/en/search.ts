// Search over all types.
import { plural } from '../format';

export const search = {
  placeholder: 'Words in all content…',
  syntax: 'How to search more precisely',
  examples: [
    ['slow kettle', 'both words, also as beginnings of words'],
    ['"slow kettle"', 'these words in a row'],
    ['tea NOT green', 'without a word; also AND, OR and parentheses'],
    ['name:kettle', 'in one property'],
    ['price:[5 TO 10]', 'a range of numbers or dates'],
    ['ketle~1', 'with a typing error'],
  ],
  facets: 'Narrow the results',
  types: 'Type',
  allTypes: 'All types',
  statuses: 'Status',
  allStatuses: 'Every status',
  results: 'Results',
  incomplete: 'The search index does not include all changes yet: results may be missing.',
  count: (count: number, text: string) => plural(count, { one: '1 result', other: `${text} results` }),
};
