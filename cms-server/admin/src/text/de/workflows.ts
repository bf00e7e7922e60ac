// Workflows: Zustände und Übergänge.
import type { Texts } from '..';
import { plural } from '../format';

export const workflows: Texts['workflows'] = {
  about:
    'Zustände, die Objekte durchlaufen. Heißt einer public, sehen Besucher nur Objekte in diesem. Ein Inhaltstyp nennt seinen Workflow.',
  create: 'Neuer Workflow',
  createTitle: 'Neuer Workflow',
  edit: 'Bearbeiten',
  editOf: (name) => `${name} bearbeiten`,
  editTitle: (name) => `${name} bearbeiten`,
  delete: 'Löschen …',
  deleteOf: (name) => `${name} löschen …`,
  deleteTitle: (name) => `${name} löschen?`,
  deleteHelp:
    'Das lässt sich nicht rückgängig machen. Ein Workflow, den ein Inhaltstyp benutzt, kann nicht gelöscht werden.',
  builtIn: 'eingebaut',
  states: 'Zustände',
  initial: 'Anfang',
  transitions: 'Übergänge',
  transition: 'Übergang',
  from: 'Von',
  to: 'Nach',
  noTransitions: 'Keine Übergänge.',
  usedByCount: (count) => `Von ${count} Inhaltstypen benutzt`,
  usedBy: 'Benutzt von',
  unused: 'Kein Inhaltstyp benutzt ihn.',
  definition: 'Definition',
  form: 'Formular',
  name: 'Name',
  id: 'Kennung',
  diagram: 'Diagramm des Workflows',
  step: (from, to) => `${from} → ${to}`,
  state: (number) => `Zustand ${String(number)}`,
  statesHelp:
    'Besucher sehen Objekte im Zustand „public“; ein Zustand, in dem Objekte sind, kann nicht entfernt oder umbenannt werden.',
  addState: 'Zustand hinzufügen',
  transitionsHelp:
    'Jeder ist ein Knopf an Objekten in dem Zustand, von dem er ausgeht, in dieser Reihenfolge.',
  transitionCount: (count) => plural(count, { one: '1 Übergang', other: `${String(count)} Übergänge` }),
  addTransition: 'Übergang hinzufügen',
  endOf: (end, number) => `${end}, Übergang ${String(number)}`,
  textOnly:
    'Das Formular kann diese Definition nicht zeigen: Zustände sind Texte, und Übergänge verbinden zwei davon.',
  definitionHelp:
    'JSON. Den Zustand „public“ sehen Besucher. Ein Zustand, in dem Objekte sind, kann nicht entfernt werden.',
  notJson: 'Das ist kein JSON-Objekt.',
  save: 'Speichern',
  replaced:
    'Jemand anderes hat diesen Workflow geändert, seit Sie ihn geöffnet haben. Speichern Sie noch einmal, um diese Änderungen zu ersetzen, oder brechen Sie ab und öffnen Sie ihn erneut, um sie zu sehen.',
  saved: (name) => `${name} ist gespeichert.`,
  deleted: (name) => `${name} ist gelöscht.`,
  line: (line) => `Zeile ${String(line)}`,
};
