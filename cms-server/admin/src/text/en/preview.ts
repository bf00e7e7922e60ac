// The preview beside the form.

export const previewFrame = {
  title: 'Preview',
  close: 'Close the preview',
  reload: 'Reload',
  width: 'Width of the preview',
  widths: { fit: 'Fit', desktop: 'Desktop', phone: 'Phone' },
  unsaved: 'The preview shows the saved draft, without your unsaved changes.',
  empty: 'Is the frame empty?',
  help: (origin: string) =>
    `The site decides who may show it in a frame: it needs Content-Security-Policy: frame-ancestors ${origin}. Some browsers also send no cookies of the site in a frame.`,
};
