// Attributes that make an editor a text box for assistive technology.

interface Options {
  label: string;
  describedBy: string | undefined;
  /** Id of the hint on keys. */
  keys: string;
  invalid: boolean;
  required: boolean;
  readonly: boolean;
}

export function textboxAttributes(options: Options): Record<string, string> {
  const { label, describedBy, keys, invalid, required, readonly } = options;
  return {
    class: 'prose',
    role: 'textbox',
    'aria-multiline': 'true',
    'aria-label': label,
    'aria-describedby': [describedBy, keys].filter(Boolean).join(' '),
    'aria-invalid': String(invalid),
    'aria-required': String(required),
    'aria-readonly': String(readonly),
    // A text that can only be read is still reached and scrolled by keyboard.
    ...(readonly ? { tabindex: '0' } : {}),
  };
}
