// Anmeldung, Einrichtung, Einladung und Zurücksetzen.
import type { Texts } from '..';

export const signIn: Texts['signIn'] = {
  title: 'Anmelden',
  email: 'E-Mail',
  password: 'Passwort',
  show: 'Anzeigen',
  hide: 'Verbergen',
  submit: 'Anmelden',
  or: 'oder',
  wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  forgotten: 'Passwort vergessen? Ein Administrator kann Ihnen einen Link schicken.',
  tooMany: (time) => `Zu viele Fehlversuche. Versuchen Sie es um ${time} wieder.`,
};
