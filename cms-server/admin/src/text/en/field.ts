// Controls of fields.
export const field = {
  clear: 'Clear',
  notSet: 'not set',
  noLongerAnOption: (value: string) => `${value} (no longer an option)`,
};
