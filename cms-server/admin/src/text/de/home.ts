// Der erste Bildschirm.
import type { Texts } from '..';

export const home: Texts['home'] = {
  title: 'Start',
  types: 'Inhaltstypen',
};
