// Controls of fields.
export const field = {
  clear: 'Clear',
  notSet: 'not set',
  wholeNumber: 'Use a whole number.',
  decimalPoint: 'Use a point: 1.25 instead of 1,25.',
  noNumber: 'This is not a number.',
  tooManyDigits: 'This number has too many digits to be stored exactly.',
  noLongerAnOption: (value: string) => `${value} (no longer an option)`,
};
