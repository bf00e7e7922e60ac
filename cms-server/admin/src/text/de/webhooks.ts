// Webhooks: Liste, Zustellungen, Signatur.
import type { Texts } from '..';
import { plural } from '../format';

export const webhooks: Texts['webhooks'] = {
  about: 'Anfragen, die der Server an andere Programme sendet, wenn sich etwas ändert.',
  off: 'Webhooks sind auf diesem Server ausgeschaltet.',
  create: 'Neuer Webhook',
  edit: 'Bearbeiten',
  empty:
    'Noch kein Webhook. Ein Webhook meldet Änderungen an ein anderes Programm, etwa an den Bau einer Website.',
  types: {
    async: 'nach Änderungen von Objekten',
    sync: 'vor Änderungen von Objekten',
    ctd: 'nach Änderungen von Inhaltstypen',
  },
  states: {
    disabled: 'Ausgeschaltet',
    down: 'Nach Fehlern pausiert',
    failing: 'Zustellungen schlagen fehl',
    good: 'Aktiv',
  },
  waiting: (count) =>
    plural(count, { one: '1 Zustellung wartet', other: `${String(count)} Zustellungen warten` }),
  none: 'Keine Zustellung wartet',
  test: 'Test senden',
  testSent: 'Eine Test-Zustellung ist unterwegs.',
  replayFailed: 'Alle fehlgeschlagenen wiederholen',
  replaySelected: (count) => `${String(count)} ausgewählte wiederholen`,
  replay: 'Wiederholen',
  replayed: (count) =>
    plural(count, {
      one: '1 Zustellung wird erneut gesendet.',
      other: `${String(count)} Zustellungen werden erneut gesendet.`,
    }),
  replayedNone: 'Keine Zustellung ist fehlgeschlagen, und keine wartet.',
  log: 'Zustellungen',
  logHelp: 'Die letzten 300 abgeschlossenen und alle wartenden. Neueste zuerst.',
  noLog: 'Noch keine Zustellungen. Senden Sie einen Test, oder ändern Sie ein Objekt eines der Typen.',
  show: 'Anzeigen',
  any: 'Alle Zustände',
  status: {
    waiting: 'Wartet',
    retrying: 'Fehlgeschlagen, wird wiederholt',
    paused: 'Pausiert',
    failed: 'Aufgegeben',
    done: 'Zugestellt',
  },
  select: (id) => `Zustellung ${id} auswählen`,
  details: (id) => `Anfrage und Antwort der Zustellung ${id}`,
  attempts: (count) => plural(count, { one: '1 Versuch', other: `${String(count)} Versuche` }),
  next: (when) => `nächster Versuch ${when}`,
  pausedUntil: (time) => `pausiert bis ${time}`,
  attemptDue: 'nächster Versuch ist fällig',
  request: 'Anfrage',
  response: (status) => `Antwort ${String(status)}`,
  noRequest: 'Noch nicht gesendet.',
  noResponse: 'Keine Antwort.',
  error: 'Fehler',
  message: 'Kennung',
  created: 'Angelegt',
  attempted: 'Letzter Versuch',
  testAction: 'Test',
  verify: 'So prüfen Sie die Signatur',
  verifyHelp:
    'Jede Anfrage ist nach Standard Webhooks (standardwebhooks.com) signiert; dafür gibt es Bibliotheken in den meisten Sprachen. Von Hand, mit den Bytes des Bodys, wie sie ankamen:',
  secret: 'Signatur-Geheimnis',
  showSecret: 'Geheimnis anzeigen',
  noMatchOnPage: 'Keine Zustellung auf dieser Seite ist in diesem Zustand.',
  missing: 'Diesen Webhook gibt es nicht.',
};
