// Whom the list of authors offers for typed words. Pure functions.

export interface AuthorOption {
  key: string;
  label: string;
  /** The e-mail address of a user, or that it is a key. */
  detail?: string;
}

interface Known {
  me: AuthorOption | null;
  /** Found by the server. */
  users: AuthorOption[];
  keys: AuthorOption[];
  /** Authors of changes on the screen; removed users and keys are among them. */
  seen: AuthorOption[];
}

/** The user first, then users, keys, and who else is on the screen: each once. */
export function authorOptions(words: string, { me, users, keys, seen }: Known): AuthorOption[] {
  const fits = ({ label, detail = '' }: AuthorOption) =>
    `${label} ${detail}`.toLocaleLowerCase().includes(words.trim().toLocaleLowerCase());
  const found = new Map<string, AuthorOption>();
  for (const option of [...(me ? [me] : []), ...users, ...keys, ...seen])
    if (!found.has(option.key) && fits(option)) found.set(option.key, option);
  return [...found.values()];
}
