// Differences of two versions.
import { plural } from '../format';

export const diff = {
  none: 'No differences',
  before: 'before',
  after: 'after',
  added: 'added',
  removed: 'removed',
  changed: 'changed',
  moved: 'moved',
  same: 'unchanged',
  unchanged: (count: number) =>
    plural(count, { one: '1 unchanged part', other: `${String(count)} unchanged parts` }),
  onlyMarkup: 'Formatting, links or settings changed; the words are the same.',
  whole: 'Show the whole text',
  less: 'Show the changes only',
};
