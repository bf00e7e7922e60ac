// The field for images.

export const mediaField = {
  upload: 'Upload',
  chooseFile: 'Choose…',
  dropHint: 'or drop or paste files here',
  alt: 'Alt text',
  altMissing: 'Without alt text, people who cannot see the image miss what it shows.',
  altChanged: (alt: string) =>
    `Not saved yet: somebody changed it to “${alt}”. Edit it again to replace that.`,
  altNotSaved: (name: string, reason: string) => `The alt text of ${name} is not saved. ${reason}`,
  altOther: (alt: string) => `Somebody changed it to “${alt}”.`,
  altReplace: 'Replace it',
  altSaved: 'Alt text saved.',
  altScope: 'Saved with the file, for every place that shows it.',
  replace: 'Replace…',
  missing: 'This file does not exist any more.',
  unknown: 'This file could not be read.',
};
