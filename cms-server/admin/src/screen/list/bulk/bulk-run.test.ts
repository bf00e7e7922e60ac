import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ApiResult } from '../../../api/client';
import { networkProblem } from '../../../api/problem';
import { BulkRun } from './bulk-run.svelte';
import { recordSourceText } from '../../../value/exact-json';
import type { BatchResult, Body, BulkChange, Job } from './requests';
import type { ObjectState } from './undo';

/** The objects of the server, and what it sends. */
const server = vi.hoisted(() => ({
  objects: new Map<string, ObjectState>(),
  /** Runs one batch on the objects. */
  batch: (_ids: string[]): BatchResult => ({ refused: [] }),
  jobs: [] as ApiResult<Job>[],
  stopped: false,
  /** Requests that read the objects get no response. */
  unreadable: false,
  keys: [] as string[],
  starts: [] as ApiResult<string>[],
}));

vi.mock('../../../session/session.svelte', () => ({ session: { context: null } }));
vi.mock('./requests', async (original) => ({
  ...(await original<object>()),
  runBatch: (_type: string, _change: BulkChange, ids: string[]) => Promise.resolve(server.batch(ids)),
  readLiveIds: (_type: string, ids: string[]) =>
    Promise.resolve(
      server.unreadable ? LOST : { data: new Set(ids.filter((id) => server.objects.has(id))), etag: null },
    ),
  startJob: (_type: string, _body: Body, _expect: number, key: string) => {
    server.keys.push(key);
    return Promise.resolve(server.starts.shift() ?? { data: 'job', etag: null });
  },
  readJob: () => Promise.resolve(server.jobs.shift() ?? { problem: networkProblem() }),
  stopJob: () => {
    server.stopped = true;
    return Promise.resolve();
  },
}));
vi.mock('./undo', async (original) => ({
  ...(await original<object>()),
  readStates: () => Promise.resolve(server.unreadable ? LOST : { data: new Map(server.objects), etag: null }),
}));

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(server, {
    objects: new Map(),
    jobs: [],
    keys: [],
    starts: [],
    stopped: false,
    unreadable: false,
  });
});
afterEach(() => vi.useRealTimers());

function addObjects(count: number): ReadonlyMap<string, string> {
  const ids = Array.from({ length: count }, (_, index) => `o${String(index)}`);
  for (const id of ids) {
    server.objects.set(id, { status: 'public', version: 1, publicVersion: 1, values: { kind: 'a' } });
  }
  return new Map(ids.map((id) => [id, id]));
}

async function finish(run: BulkRun): Promise<BulkRun> {
  const end = run.start();
  await vi.runAllTimersAsync();
  await end;
  return run;
}

const LOST = { problem: networkProblem() };

it('counts objects as changed whose batch lost its response, and offers undo', async () => {
  const rows = addObjects(2);
  server.batch = (ids) => {
    for (const id of ids)
      server.objects.set(id, { status: 'modified', version: 2, publicVersion: 1, values: { kind: 'b' } });
    return LOST;
  };
  const change = { kind: 'patch', patch: { kind: 'b' } } as const;
  const run = await finish(new BulkRun('post', change, { kind: 'rows', rows }, 2));
  expect([run.state, run.succeeded, run.canUndo]).toEqual(['done', 2, true]);
});

it('edits a long number that equals the new one only after rounding', async () => {
  const rows = addObjects(1);
  const values = { kind: Number('9007199254740993') };
  recordSourceText(values, '{"kind":9007199254740993}');
  server.objects.set('o0', { status: 'draft', version: 1, publicVersion: -1, values });
  server.batch = () => ({ refused: [] });
  const change = { kind: 'patch', patch: { kind: Number('9007199254740992') } } as const;
  const run = await finish(new BulkRun('post', change, { kind: 'rows', rows }, 1));
  expect([run.succeeded, run.unchanged]).toEqual([1, 0]);
});

it('reports a lost batch that changed some of its objects, and offers undo for these', async () => {
  const rows = addObjects(2);
  server.batch = (ids) => {
    server.objects.delete(ids[0] ?? '');
    return LOST;
  };
  const run = await finish(new BulkRun('post', { kind: 'delete' }, { kind: 'rows', rows }, 2));
  expect([run.state, run.succeeded, run.canUndo]).toEqual(['failed', 1, true]);
});

it('deletes objects after the objects of later batches that link to them', async () => {
  const rows = addObjects(150);
  // The last object links to the first, and two objects of different batches link to each other.
  const links = new Map([
    ['o0', ['o149']],
    ['o1', ['o140']],
    ['o140', ['o1']],
  ]);
  server.batch = (ids) => {
    const isLinked = (id: string) =>
      links.get(id)?.some((from) => server.objects.has(from) && !ids.includes(from)) === true;
    const refused = ids.filter(isLinked);
    for (const id of ids) if (!refused.includes(id)) server.objects.delete(id);
    return { refused: refused.map((id) => ({ id, errors: { '': ['is used'] } })) };
  };
  const run = await finish(new BulkRun('post', { kind: 'delete' }, { kind: 'rows', rows }, 150));
  expect([run.state, run.done, run.succeeded, run.refused]).toEqual(['done', 150, 150, []]);

  addObjects(2);
  links.set('o0', ['other']);
  server.objects.set('other', { status: 'draft', version: 1, publicVersion: -1, values: {} });
  const rest = new Map([
    ['o0', ''],
    ['o1', ''],
  ]);
  const refused = await finish(new BulkRun('post', { kind: 'delete' }, { kind: 'rows', rows: rest }, 2));
  expect([refused.state, refused.done, refused.succeeded]).toEqual(['done', 2, 1]);
});

it('follows a job again after lost responses', async () => {
  const job = (state: Job['state'], done: number): ApiResult<Job> => ({
    data: { id: 'job', state, total: 5, done, refused: 0 } as Job,
    etag: null,
  });
  server.jobs = [job('running', 1), LOST, LOST, LOST, LOST, job('running', 3), job('done', 5)];
  const run = new BulkRun(
    'post',
    { kind: 'publish' },
    { kind: 'match', words: '', filters: {}, total: 5 },
    5,
  );
  await finish(run);
  expect([run.state, run.succeeded, run.problem]).toEqual(['done', 5, null]);
});

it.each(['delete', 'patch'] as const)(
  'does not know the outcome of a lost %s until it is read',
  async (kind) => {
    const rows = addObjects(150);
    const batches: string[][] = [];
    server.batch = (ids) => {
      batches.push(ids);
      for (const id of ids) {
        if (kind === 'delete') server.objects.delete(id);
        else
          server.objects.set(id, { status: 'modified', version: 2, publicVersion: 1, values: { kind: 'b' } });
      }
      server.unreadable = batches.length === 1;
      return server.unreadable ? LOST : { refused: [] };
    };
    const run = new BulkRun(
      'post',
      { kind, ...(kind === 'patch' && { patch: { kind: 'b' } }) },
      { kind: 'rows', rows },
      150,
    );
    const end = run.start();
    await vi.runAllTimersAsync();
    expect([run.state, run.succeeded, run.problem]).toEqual(['unknown', 0, networkProblem()]);
    run.readAgain();
    await vi.runAllTimersAsync();
    expect([run.state, run.succeeded]).toEqual(['unknown', 0]);
    server.unreadable = false;
    run.readAgain();
    await vi.runAllTimersAsync();
    await end;
    expect([run.state, run.succeeded, run.problem, batches.length]).toEqual(['done', 150, null, 2]);
  },
);

it('keeps an unknown outcome that the user leaves', async () => {
  const rows = addObjects(2);
  server.batch = () => {
    server.unreadable = true;
    return LOST;
  };
  const run = new BulkRun('post', { kind: 'delete' }, { kind: 'rows', rows }, 2);
  const end = run.start();
  await vi.runAllTimersAsync();
  run.leave();
  await end;
  expect([run.state, run.succeeded, run.canUndo]).toEqual(['unknown', 0, false]);
});

it('ends with an unknown outcome if the user has left it before', async () => {
  const rows = addObjects(2);
  server.batch = () => {
    server.unreadable = true;
    return LOST;
  };
  const run = new BulkRun('post', { kind: 'delete' }, { kind: 'rows', rows }, 2);
  run.leave();
  await finish(run);
  expect(run.state).toBe('unknown');
});

it('starts a job once, even if the user tries again after lost responses', async () => {
  server.starts = [LOST, LOST, LOST];
  server.jobs = [{ data: { id: 'job', state: 'done', total: 5, done: 5, refused: 0 } as Job, etag: null }];
  const run = new BulkRun(
    'post',
    { kind: 'publish' },
    { kind: 'match', words: '', filters: {}, total: 5 },
    5,
  );
  const end = run.start();
  await vi.runAllTimersAsync();
  expect(run.state).toBe('unknown');
  run.readAgain();
  await vi.runAllTimersAsync();
  await end;
  expect([run.state, run.succeeded, new Set(server.keys).size]).toEqual(['done', 5, 1]);
});

it('does not know the outcome of a stopped job that cannot be reached', async () => {
  const run = new BulkRun(
    'post',
    { kind: 'publish' },
    { kind: 'match', words: '', filters: {}, total: 5 },
    5,
  );
  const end = run.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([run.state, run.problem]).toEqual(['running', networkProblem()]);
  run.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([run.state, server.stopped]).toEqual(['unknown', true]);
  run.leave();
  await end;
  expect(run.state).toBe('unknown');
});
