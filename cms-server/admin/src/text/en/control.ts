// Controls of fields that consist of several parts: pickers, lists, images.
import { plural } from '../format';

export const control = {
  nothingFound: 'Nothing found.',
  suggestions: 'Suggestions',
  suggestionCount: (count: number) =>
    plural(count, { one: '1 suggestion', other: `${String(count)} suggestions` }),
  remove: (name: string) => `Remove ${name}`,
  move: (name: string) => `Move ${name}`,
  moveHint: 'Drag, or press Alt and an arrow key',
  moveUp: 'Move up',
  moveDown: 'Move down',
  moveBack: 'Move back',
  moveForward: 'Move forward',
  moveFirst: 'Move to the start',
  moveLast: 'Move to the end',
  moved: (name: string, place: number, count: number) =>
    `${name} is now number ${String(place)} of ${String(count)}.`,
  order: 'Order',
  removed: (name: string) => `${name} was removed.`,
  undo: 'Undo',
  item: (place: number) => `Item ${String(place)}`,
  itemOf: (field: string, place: number) => `${field}, item ${String(place)}`,
  newItem: 'New item',
  newItemOf: (field: string) => `${field}, new item`,
  addTo: (field: string) => `Add to ${field}`,
  itemCount: (count: number) => plural(count, { one: '1 item', other: `${String(count)} items` }),
  errors: (count: number) => plural(count, { one: '1 error', other: `${String(count)} errors` }),
  duplicate: 'Duplicate',
  removeItem: 'Remove',
  collapseAll: 'Collapse all',
  expandAll: 'Expand',
  showMore: 'Show more',
  shownOf: (shown: string, total: string) => `${shown} of ${total}`,
};
