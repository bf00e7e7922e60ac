// Who uses the page: the session, its rights, and the content types that it sees.
import { notePreload, storePreloads } from '../api/preload';
import { sendRequest, setUser, api, type Page, type Schema } from '../api/client';
import type { Problem } from '../api/problem';
import { hasWorkflow, readContentType, type ContentType } from '../type/definition';
import { formOf, type Form } from '../type/form';
import { webhookForm } from '../type/webhook-form';

export type AuthContext = Schema['AuthContext'];
export type Right = 'c' | 'r' | 'u' | 'd';

/** Name of a space that nobody has named. */
const UNNAMED = 'default';

let context = $state.raw<AuthContext | null>(null);
let types = $state.raw<ContentType[]>([]);
let foreign = false;

export const session = {
  /** The session, or null before a sign-in. */
  get context(): AuthContext | null {
    return context;
  },
  /** Another user has signed in: nothing of this page may be sent in their name. */
  get isOtherUser(): boolean {
    return foreign;
  },
  /** Content types that the user may read, by label. */
  get types(): ContentType[] {
    return types;
  },
  get isAdmin(): boolean {
    return context?.rights.admin ?? false;
  },
  /** The name of the site: of its space or organization, else its address. */
  get siteName(): string {
    const names = [context?.space.name, context?.organization.name];
    return names.find((name) => name && name !== UNNAMED) ?? location.host;
  },
  get mayPublish(): boolean {
    return context?.rights.publish ?? false;
  },
};

/** Returns whether the user has a right on a content type. */
export function may(right: Right, type: string): boolean {
  return context?.rights.contentTypes[type]?.includes(right) ?? false;
}

/** Returns whether the user may only read objects in this state of their workflow. */
export function isReadonlyState(state: string | undefined): boolean {
  return state === 'public' && !session.mayPublish;
}

/** The label of a type; its name if there is no such type. */
export function typeLabel(name: string): string {
  return typeNamed(name)?.label ?? name;
}

export function typeNamed(name: string): ContentType | undefined {
  return types.find((type) => type.name === name);
}

const SESSION_PATH = '/api/v1/session';
const TYPES_PATH = '/api/v1/internal/contenttype';
const WORKFLOWS_PATH = '/api/v1/workflow';
const forms = new WeakMap<ContentType, Form>();

/** The form of a type, read once. */
export function formFor(type: ContentType): Form {
  let form = forms.get(type);
  if (!form) {
    form = formOf(type);
    if (type.name === WEBHOOK_TYPE) {
      form = webhookForm(
        form,
        types.map(({ name, label }) => ({ value: name, label })),
      );
    }
    forms.set(type, form);
  }
  return form;
}

/** Reads session and content types; returns the problem, or null when there is a session. */
export async function loadSession(): Promise<Problem | null> {
  const result = await sendRequest(api.GET(SESSION_PATH));
  if ('problem' in result) {
    if (result.problem.status === 401) storePreloads(false);
    return result.problem;
  }
  return useSession(result.data);
}

/** Continues with the session of a sign-in. */
export async function useSession(signedIn: AuthContext): Promise<Problem | null> {
  if (context !== null && context.user.id !== signedIn.user.id) {
    reloadForOtherUser();
    return null;
  }
  const problem = await loadTypes(signedIn);
  if (problem) return problem;
  storePreloads(true);
  foreign = false;
  context = signedIn;
  setUser(signedIn.user.id);
  return null;
}

/**
 * Loads the page again because another user has signed in; unsaved work of the first user stays stored. If the user
 * stays on the page, all requests need a new sign-in.
 */
export function reloadForOtherUser(): void {
  foreign = true;
  location.reload();
}

const WEBHOOK_TYPE = '_webhooks';
const TYPES_LIMIT = 1000;

let loads = 0;
let newest: Promise<Problem | null> = Promise.resolve(null);

/** Reads the content types again, after one has changed. */
export function loadTypes(signedIn = context): Promise<Problem | null> {
  newest = readTypes((loads += 1), signedIn);
  return newest;
}

async function readTypes(load: number, signedIn: typeof context): Promise<Problem | null> {
  notePreload(SESSION_PATH);
  const webhookType = readWebhookType(signedIn);
  const read: ContentType[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    notePreload(`${TYPES_PATH}?limit=${String(TYPES_LIMIT)}&page=${String(page)}`);
    const result = await sendRequest<Page<unknown>>(
      api.GET(TYPES_PATH, { params: { query: { limit: TYPES_LIMIT, page } } }),
    );
    if ('problem' in result) return result.problem;
    read.push(...result.data.data.map(readContentType));
    pages = result.data.total_pages;
  }
  read.push(...(await webhookType));
  if (read.some(hasWorkflow)) {
    const unrestricted = await workflowsWithoutPublicState();
    for (const type of read) if (unrestricted.has(type.workflowId ?? '')) type.restrictsReaders = false;
  }
  // Another load has begun since: its types are newer, so this one drops its own and waits for them.
  if (load !== loads) return newest;
  types = read.sort((a, b) => a.label.localeCompare(b.label));
  return null;
}

/** Ids of the workflows without a state `public`, which hide nothing from readers; none if the request fails. */
async function workflowsWithoutPublicState(): Promise<Set<string>> {
  notePreload(WORKFLOWS_PATH);
  const result = await sendRequest(api.GET(WORKFLOWS_PATH));
  if ('problem' in result) return new Set();
  return new Set(result.data.data.filter(({ states }) => !states.includes('public')).map(({ id }) => id));
}

/** The list of content types does not contain `_webhooks`, so it is read by its name. */
async function readWebhookType(signedIn: typeof context): Promise<ContentType[]> {
  if (!signedIn?.rights.contentTypes[WEBHOOK_TYPE]?.includes('r') || !signedIn.features.webhooks) return [];
  notePreload(`${TYPES_PATH}/${WEBHOOK_TYPE}`);
  const result = await sendRequest(
    api.GET('/api/v1/internal/contenttype/{id}', { params: { path: { id: WEBHOOK_TYPE } } }),
  );
  return 'problem' in result ? [] : [readContentType(result.data)];
}

/** Ends the session on the server, and removes it here. */
export async function signOut(): Promise<Problem | null> {
  const result = await sendRequest(api.DELETE(SESSION_PATH));
  if ('problem' in result) return result.problem;
  storePreloads(false);
  setUser(null);
  context = null;
  types = [];
  return null;
}
