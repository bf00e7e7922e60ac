// Bedienelemente der Felder.
import type { Texts } from '..';

export const field: Texts['field'] = {
  clear: 'Leeren',
  notSet: 'nicht gesetzt',
  noLongerAnOption: (value) => `${value} (keine Option mehr)`,
};
