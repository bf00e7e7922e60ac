// Who uses the page: the session, its rights, and the content types that it sees.
import { sendRequest, api, type Page, type Schema } from '../api/client';
import type { Problem } from '../api/problem';
import { readContentType, type ContentType } from '../type/definition';
import { formOf, type Form } from '../type/form';

export type AuthContext = Schema['AuthContext'];
export type Right = 'c' | 'r' | 'u' | 'd';

let context = $state.raw<AuthContext | null>(null);
let types = $state.raw<ContentType[]>([]);

export const session = {
  /** The session, or null before a sign-in. */
  get context(): AuthContext | null {
    return context;
  },
  /** Content types that the user may read, by label. */
  get types(): ContentType[] {
    return types;
  },
  get isAdmin(): boolean {
    return context?.rights.admin ?? false;
  },
  get mayPublish(): boolean {
    return context?.rights.publish ?? false;
  },
};

/** Tells whether the user has a right on a content type. */
export function may(right: Right, type: string): boolean {
  return context?.rights.contentTypes[type]?.includes(right) ?? false;
}

export function typeNamed(name: string): ContentType | undefined {
  return types.find((type) => type.name === name);
}

const forms = new WeakMap<ContentType, Form>();

/** The form of a type, read once. */
export function formFor(type: ContentType): Form {
  let form = forms.get(type);
  if (!form) {
    form = formOf(type);
    forms.set(type, form);
  }
  return form;
}

/** Reads session and content types; null when there is a session. */
export async function loadSession(): Promise<Problem | null> {
  const result = await sendRequest(api.GET('/api/v1/session'));
  if ('problem' in result) return result.problem;
  return useSession(result.data);
}

/** Continues with the session of a sign-in. */
export async function useSession(signedIn: AuthContext): Promise<Problem | null> {
  const problem = await loadTypes(signedIn);
  if (problem) return problem;
  context = signedIn;
  return null;
}

const WEBHOOK_TYPE = '_webhooks';

let loads = 0;
let newest: Promise<Problem | null> = Promise.resolve(null);

/** Reads the content types again, after one has changed. */
export function loadTypes(signedIn = context): Promise<Problem | null> {
  newest = readTypes((loads += 1), signedIn);
  return newest;
}

async function readTypes(load: number, signedIn: typeof context): Promise<Problem | null> {
  const read: ContentType[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const result = await sendRequest<Page<unknown>>(
      api.GET('/api/v1/internal/contenttype', { params: { query: { limit: 1000, page } } }),
    );
    if ('problem' in result) return result.problem;
    read.push(...result.data.data.map(readContentType));
    pages = result.data.total_pages;
  }
  // Lists leave this type out.
  if (signedIn?.rights.contentTypes[WEBHOOK_TYPE]?.includes('r') && signedIn.features.webhooks) {
    const result = await sendRequest(
      api.GET('/api/v1/internal/contenttype/{id}', { params: { path: { id: WEBHOOK_TYPE } } }),
    );
    if (!('problem' in result)) read.push(readContentType(result.data));
  }
  // Another load has begun since: its types are newer, so this one drops its own and waits for them.
  if (load !== loads) return newest;
  types = read.sort((a, b) => a.label.localeCompare(b.label));
  return null;
}

/** Ends the session on the server, and forgets it here. */
export async function signOut(): Promise<Problem | null> {
  const result = await sendRequest(api.DELETE('/api/v1/session'));
  if ('problem' in result) return result.problem;
  context = null;
  types = [];
  return null;
}
