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
};
