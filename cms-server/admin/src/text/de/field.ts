// Bedienelemente der Felder.
import type { Texts } from '..';

export const field: Texts['field'] = {
  clear: 'Leeren',
  notSet: 'nicht gesetzt',
  wholeNumber: 'Geben Sie eine ganze Zahl ein.',
  decimalSign: 'Schreiben Sie 1000 oder 1,25, ohne Punkt.',
  noNumber: 'Das ist keine Zahl.',
  tooManyDigits: 'Diese Zahl hat zu viele Ziffern, um genau gespeichert zu werden.',
  noLongerAnOption: (value) => `${value} (keine Option mehr)`,
};
