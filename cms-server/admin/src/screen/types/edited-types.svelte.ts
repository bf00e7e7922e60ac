// Edited types that are not applied yet. They stay when the user goes elsewhere or reloads the page, so that
// several types can be changed together. Knows no request and no component.
import { editedTypesPrefix, storesOnDevice } from '../../object/unsaved-work-db';
import { registerUnstoredTypes } from '../../object/sign-out-work';
import { session } from '../../session/session.svelte';
import { string } from '../../type/definition';
import { isChanged, type TypeDraft } from '../../type/type-draft';
import { localKeys, readLocal, writeLocal } from '../../value/local-storage';
import { parsedJson } from '../../value/json';
import { isRecord } from '../../value/record';
import { uuid } from '../../value/uuid';
import type { OptionChanges } from './lost-options';

export interface EditedType {
  draft: TypeDraft;
  /** Confirmed losses: `type.property` -> number of values that the user has seen. */
  allowed: Record<string, number>;
  /** Options that objects get in place of lost ones. */
  optionChanges?: OptionChanges;
}

/** The name of the type; `+` begins the key of a new type. */
export type EditedTypeKey = string;

let user = '';
let editedTypes = $state.raw<Record<EditedTypeKey, EditedType>>({});

function isEditedType(value: unknown): value is EditedType {
  return (
    isRecord(value) &&
    isRecord(value.allowed) &&
    isRecord(value.draft) &&
    isRecord(value.draft.definition) &&
    Array.isArray(value.draft.properties) &&
    Array.isArray(value.draft.different) &&
    (value.optionChanges === undefined || isRecord(value.optionChanges))
  );
}

/** Reads the edited types of the signed-in user from `localStorage`. */
export function loadEditedTypes(): void {
  const id = session.context?.user.id ?? '';
  if (id === user) return;
  user = id;
  const prefix = editedTypesPrefix(id);
  editedTypes = Object.fromEntries(
    localKeys(prefix).flatMap((name) => {
      const edited = parse(readLocal(name));
      return edited ? [[name.slice(prefix.length), edited] as const] : [];
    }),
  );
}

/** Reads a stored entry; null if it is damaged. */
function parse(text: string | null): EditedType | null {
  const value = parsedJson(text ?? '');
  return isEditedType(value) ? value : null;
}

function without(key: EditedTypeKey): Record<EditedTypeKey, EditedType> {
  return Object.fromEntries(Object.entries(editedTypes).filter(([other]) => other !== key));
}

/** Another tab has edited a type, or applied it. */
addEventListener('storage', ({ key, newValue }) => {
  const prefix = editedTypesPrefix(user);
  if (user === '' || key === null || !key.startsWith(prefix)) return;
  const name = key.slice(prefix.length);
  const edited = parse(newValue);
  editedTypes = edited ? { ...editedTypes, [name]: edited } : without(name);
});

/** The browser asks before a page with edits that it does not store is closed. After sign-out, it does not ask. */
addEventListener('beforeunload', (event) => {
  if (session.context !== null && unstoredTypes() > 0) event.preventDefault();
});
registerUnstoredTypes(unstoredTypes);

function unstoredTypes(): number {
  const isStored = ([key, edited]: [EditedTypeKey, EditedType]) =>
    readLocal(editedTypesPrefix(user) + key) === JSON.stringify(edited);
  return changedTypes().filter((entry) => !isStored(entry)).length;
}

export function editedType(key: EditedTypeKey): EditedType | undefined {
  return Object.hasOwn(editedTypes, key) ? editedTypes[key] : undefined;
}

/** Each type is stored on its own: tabs that edit different types do not overwrite each other. */
export function setEditedType(key: EditedTypeKey, edited: EditedType): void {
  editedTypes = { ...editedTypes, [key]: edited };
  const keeps = storesOnDevice() && differs(edited);
  writeLocal(editedTypesPrefix(user) + key, keeps ? JSON.stringify(edited) : null);
}

export function deleteEditedTypes(keys: EditedTypeKey[]): void {
  for (const key of keys) {
    editedTypes = without(key);
    writeLocal(editedTypesPrefix(user) + key, null);
  }
}

function differs({ draft }: EditedType): boolean {
  return draft.base === null
    ? draft.properties.length > 0 || string(draft.definition.name) !== ''
    : isChanged(draft);
}

/** Types with changes that are not applied. */
export function changedTypes(): [EditedTypeKey, EditedType][] {
  return Object.entries(editedTypes).filter(([, edited]) => differs(edited));
}

export const isNewKey = (key: EditedTypeKey): boolean => key.startsWith('+');

/** A key for a new type, which no other tab uses. */
export function newKey(): EditedTypeKey {
  return `+${uuid().slice(0, 8)}`;
}
