// Controls of fields.
export const field = {
  clear: 'Clear',
  notSet: 'not set',
  notJson: 'This is not valid JSON yet; the value is unchanged.',
  noLongerAnOption: (value: string) => `${value} (no longer an option)`,
};
