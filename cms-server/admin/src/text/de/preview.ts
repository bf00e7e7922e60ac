// Die Vorschau neben dem Formular.
import type { Texts } from '..';

export const previewFrame: Texts['previewFrame'] = {
  title: 'Vorschau',
  close: 'Vorschau schließen',
  reload: 'Neu laden',
  width: 'Breite der Vorschau',
  widths: { fit: 'Passend', desktop: 'Bildschirm', phone: 'Telefon' },
  unsaved: 'Die Vorschau zeigt den gespeicherten Entwurf, ohne Ihre ungespeicherten Änderungen.',
  empty: 'Ist der Rahmen leer?',
  help: (origin) =>
    `Die Website entscheidet, wer sie in einem Rahmen zeigen darf: Sie braucht Content-Security-Policy: frame-ancestors ${origin}. Manche Browser senden in einem Rahmen auch keine Cookies der Website.`,
};
