// Which input shows a stored date without changing it.

/** The type of the input for a stored text: a date, a date with a time, or plain text. */
export function inputTypeFor(text: string, time: boolean): 'date' | 'datetime-local' | 'text' {
  if (time) return text === '' || /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? 'datetime-local' : 'text';
  return text === '' || /^\d{4}-\d\d-\d\d$/.test(text) ? 'date' : 'text';
}
