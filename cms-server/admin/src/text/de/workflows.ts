// Workflows: Zustände und Übergänge.
import type { Texts } from '..';

export const workflows: Texts['workflows'] = {
  about: 'Zustände, die Objekte durchlaufen, bevor Leser sie sehen. Ein Inhaltstyp nennt seinen Workflow.',
  create: 'Neuer Workflow',
  createTitle: 'Neuer Workflow',
  edit: 'Bearbeiten',
  editOf: (name) => `${name} bearbeiten`,
  editTitle: (name) => `${name} bearbeiten`,
  delete: 'Löschen …',
  deleteOf: (name) => `${name} löschen …`,
  deleteTitle: (name) => `${name} löschen?`,
  deleteHelp:
    'Das lässt sich nicht rückgängig machen. Ein Workflow, den ein Inhaltstyp oder ein Objekt benutzt, kann nicht gelöscht werden.',
  builtIn: 'eingebaut',
  states: 'Zustände',
  initial: 'Anfang',
  transitions: 'Übergänge',
  transition: 'Übergang',
  from: 'Von',
  to: 'Nach',
  noTransitions: 'Keine Übergänge.',
  usedBy: 'Benutzt von',
  unused: 'Kein Inhaltstyp benutzt ihn.',
  definition: 'Definition',
  definitionHelp:
    'JSON. Den Zustand „public“ sehen Leser. Ein Zustand, in dem Objekte sind, kann nicht entfernt werden.',
  notJson: 'Das ist kein JSON-Objekt.',
  save: 'Speichern',
  saved: (name) => `${name} ist gespeichert.`,
  deleted: (name) => `${name} ist gelöscht.`,
  line: (line) => `Zeile ${String(line)}`,
};
