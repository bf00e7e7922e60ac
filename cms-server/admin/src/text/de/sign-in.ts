// Anmeldung, Einrichtung, Einladung und Zurücksetzen.
import type { Texts } from '..';

export const signIn: Texts['signIn'] = {
  sessionEnded: 'Ihre Sitzung ist beendet',
  sessionEndedHelp: (name) =>
    `Melden Sie sich als ${name} an, um fortzufahren. Die Seite und Ihr Text bleiben, wie sie sind.`,
  title: 'Anmelden',
  email: 'E-Mail',
  name: 'Name',
  password: 'Passwort',
  passwordRules: 'Mindestens 12 Zeichen',
  submit: 'Anmelden',
  or: 'oder',
  wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  forgotten: 'Passwort vergessen? Ein Administrator kann Ihnen einen Link schicken.',
  tooMany: (time) => `Zu viele Fehlversuche. Versuchen Sie es um ${time} wieder.`,
  toSignIn: 'Zur Anmeldung',
  setup: {
    title: 'cms einrichten',
    intro: 'Legen Sie den ersten Administrator an.',
    submit: 'Konto anlegen',
    missingTitle: 'Dieser Server hat noch keinen Benutzer',
    missing:
      'Der Server hat beim Start eine Zeile ausgegeben, die mit CMS_SETUP_URL= beginnt. Öffnen Sie den Link in dieser Zeile. Für einen neuen Link starten Sie den Server neu. Sie können den ersten Administrator auch mit diesem Befehl anlegen:',
  },
  invitation: {
    title: (name) => `Willkommen, ${name}`,
    intro: 'Sie wurden eingeladen. Legen Sie ein Passwort fest, mit dem Sie sich künftig anmelden.',
    submit: 'Passwort festlegen',
  },
  reset: {
    title: 'Neues Passwort festlegen',
    intro: 'Alle anderen Sitzungen dieses Kontos enden.',
    submit: 'Passwort festlegen',
  },
  expired: {
    title: 'Dieser Link gilt nicht mehr',
    reason: 'Er ist abgelaufen oder wurde schon benutzt. Jeder Link funktioniert einmal.',
    ask: 'Bitten Sie einen Administrator dieses Servers um einen neuen Link. Einladungen gelten 72 Stunden, Links für ein neues Passwort 1 Stunde.',
    setup:
      'Für einen neuen Einrichtungslink starten Sie den Server neu, oder legen Sie den ersten Administrator mit diesem Befehl an:',
  },
  openId: {
    openid_denied: 'Der Anmeldedienst hat die Anmeldung abgelehnt.',
    openid_state:
      'Die Anmeldung dauerte länger als 10 Minuten oder begann in einem anderen Browser. Versuchen Sie es noch einmal.',
    openid_unavailable:
      'Der Anmeldedienst ist nicht erreichbar. Versuchen Sie es später, oder benutzen Sie Ihr Passwort.',
    openid_token:
      'Die Antwort des Anmeldedienstes ist ungültig. Ein Administrator findet den Grund im Protokoll.',
    openid_email: 'Der Anmeldedienst bestätigt Ihre E-Mail-Adresse nicht.',
    openid_domain: 'E-Mail-Adressen Ihrer Domain dürfen sich hier nicht anmelden.',
    openid_user: 'Sie haben hier kein Konto. Ein Administrator kann eines anlegen.',
    openid_disabled: 'Ihr Konto ist gesperrt. Ein Administrator kann es freigeben.',
  },
  openIdOther: 'Die Anmeldung ist fehlgeschlagen. Versuchen Sie es noch einmal.',
};
