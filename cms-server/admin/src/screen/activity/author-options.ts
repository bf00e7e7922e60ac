// Authors that the filter offers for typed words. Pure functions.

export interface AuthorOption {
  key: string;
  label: string;
  /** The e-mail address of a user; for a key, the word "Key". */
  detail?: string;
}

interface Known {
  me: AuthorOption | null;
  /** Users that the server found. */
  users: AuthorOption[];
  keys: AuthorOption[];
  /** Authors of changes on the screen; removed users and keys are among them. */
  seen: AuthorOption[];
}

/** The signed-in user, other users, keys, and other authors of shown changes, in this order; each once. */
export function authorOptions(words: string, { me, users, keys, seen }: Known): AuthorOption[] {
  const fits = ({ label, detail = '' }: AuthorOption) =>
    `${label} ${detail}`.toLocaleLowerCase().includes(words.trim().toLocaleLowerCase());
  const found = new Map<string, AuthorOption>();
  for (const option of [...(me ? [me] : []), ...users, ...keys, ...seen])
    if (!found.has(option.key) && fits(option)) found.set(option.key, option);
  return [...found.values()];
}
