// Bedienelemente der Felder.
import type { Texts } from '..';

export const field: Texts['field'] = {
  clear: 'Leeren',
  notSet: 'nicht gesetzt',
  notJson: 'Das ist noch kein gültiges JSON; der Wert ist unverändert.',
  noLongerAnOption: (value) => `${value} (keine Option mehr)`,
};
