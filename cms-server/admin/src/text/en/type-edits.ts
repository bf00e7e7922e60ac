// Changes of content types: what others changed, options that objects still have, kinds of properties.
import { plural } from '../format';

export const typeEdits = {
  theirChanges: 'What others changed',
  deletedMeanwhile:
    'Somebody has deleted this type with its objects. If you apply your edits, it is created again, without objects.',
  propertyOrder: 'Order of the properties',
  youChanged: 'You changed it: it becomes a new property.',
  youRemoved: 'You remove it.',
  yoursStays: 'You changed this too: yours stays.',

  lostOption: (value: string) => `“${value}” is no longer an option.`,
  lostOptionObjects: (count: number, text: string) =>
    plural(count, { one: '1 object has it', other: `${text} objects have it` }),
  lostOptionNone: 'No object has it.',
  lostOptionHelp: 'Such an object cannot be saved until another option is chosen.',
  lostOptionTo: (value: string) => `Objects with “${value}”`,
  leaveOption: 'Leave as they are',
  changeOption: (label: string) => `Change to: ${label}`,
  changeOptionHelp: 'After the change is applied, each of them gets a new version.',
  changingOptions: (done: string, total: string) => `Changing values: ${done} of ${total} objects`,
  optionsChanged: (count: number, text: string) =>
    plural(count, { one: '1 object has its new value.', other: `${text} objects have their new value.` }),
  optionsRefused: (count: number, text: string, label: string) =>
    plural(count, {
      one: `1 object keeps the old value of ${label}: open it in the list, and save it.`,
      other: `${text} objects keep the old value of ${label}: open them in the list, and save them.`,
    }),

  maxLength: 'Maximum number of characters',
  lengthsCrossed: 'The minimum length is greater than the maximum length.',
  applyDefaults: 'The server fills in defaults',
  applyDefaultsHelp:
    'If a program creates an object without a property, the server fills in the “Value in new objects” of the property.',
  uniqueTogether: 'Unique combinations',
  uniqueTogetherHelp:
    'No two objects have the same values of all these properties, such as slug and language.',
  combination: (place: number) => `Combination ${String(place)}`,
  addCombination: 'Add combination',

  chooseKind: 'Kind of the property',
  searchKind: 'Search kinds, such as “date” or “link”',
  kindAbout: {
    text: 'One line: a title, a name, a slug',
    textarea: 'Several lines without formatting',
    richtext: 'Headings, lists, tables, images; stored as HTML',
    textMarkdown: 'Formatting by characters such as * and #, with a preview',
    block: 'A page of blocks; stored as JSON',
    number: 'With decimals, such as a price',
    integer: 'A count, a year',
    checkbox: 'On or off',
    dateTime: 'A day, with or without a time',
    email: 'The format is checked',
    select: 'One of several options, in a list',
    selectMany: 'Any of several options',
    radio: 'One of few options, all visible',
    media: 'Images and files of the library',
    datasource: 'Links to other objects',
    object: 'A table or cards, each item with properties',
    simpleList: 'One text per line, such as tags',
    geo: 'Latitude and longitude',
    custom: 'Any object, with or without properties',
  },
  /** Further words under which a kind is found. */
  kindWords: {
    text: 'string slug url colour',
    textarea: 'string multiline',
    richtext: 'html wysiwyg editor',
    textMarkdown: 'md',
    block: 'editor.js json content',
    number: 'float decimal price',
    integer: 'int',
    checkbox: 'boolean switch true false',
    dateTime: 'calendar',
    email: 'mail',
    select: 'enum dropdown',
    selectMany: 'enum multiple tags',
    radio: 'enum',
    media: 'image picture photo video upload',
    datasource: 'reference foreign key link',
    object: 'repeater group array component',
    simpleList: 'array strings',
    geo: 'map coordinates location',
    custom: 'object raw',
  },
};
