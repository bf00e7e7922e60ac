// Controls of fields.
export const field = {
  clear: 'Clear',
  notSet: 'not set',
  wholeNumber: 'Use a whole number.',
  decimalSign: 'Write 1000 or 1.25, without commas.',
  noNumber: 'This is not a number.',
  tooManyDigits: 'This number has too many digits to be stored exactly.',
  noLongerAnOption: (value: string) => `${value} (no longer an option)`,
};
