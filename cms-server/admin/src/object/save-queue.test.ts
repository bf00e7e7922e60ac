import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiResult } from '../api/client';
import { networkProblem } from '../api/problem';
import { isEqual } from '../value/equal';
import type { Values } from './form-state.svelte';
import { SaveQueue, type QueueState, type SaveRequest } from './save-queue';
import { baseOf, type StoredObject } from './object-requests';

/** What happens to a request on its way: lost before or after the server handled it, or refused. */
type RequestOutcome = 'ok' | 'lost' | 'lostResponse' | 'unavailable' | 'slow';

/** A server with one object, idempotency keys and `If-Match`; `outcomes` says what happens to each request. */
class SimulatedServer {
  object: StoredObject | null = null;
  etag = 0;
  created = 0;
  inFlight = 0;
  maxInFlight = 0;
  writes: SaveRequest[] = [];
  readonly #keys = new Map<string, { values: Values; object: StoredObject }>();

  constructor(private readonly outcomes: RequestOutcome[]) {}

  send = async (write: SaveRequest): Promise<ApiResult<StoredObject>> => {
    this.inFlight += 1;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    this.writes.push(write);
    const outcome = this.outcomes.shift() ?? 'ok';
    await new Promise((done) => setTimeout(done, outcome === 'slow' ? 5000 : 20));
    const lost = { problem: networkProblem() };
    const result =
      outcome === 'lost'
        ? lost
        : outcome === 'unavailable'
          ? { problem: { ...networkProblem(), status: 503 } }
          : this.#handle(write);
    this.inFlight -= 1;
    return outcome === 'lostResponse' ? lost : result;
  };

  #handle(write: SaveRequest): ApiResult<StoredObject> {
    if (write.kind === 'create') {
      const known = this.#keys.get(write.key);
      if (known) {
        if (!isEqual(known.values, write.values)) return { problem: { ...networkProblem(), status: 422 } };
        return { data: known.object, etag: '"1"' };
      }
      this.created += 1;
      const object = this.#store(write.values);
      this.#keys.set(write.key, { values: write.values, object });
      return { data: object, etag: `"${String(this.etag)}"` };
    }
    if (write.etag !== `"${String(this.etag)}"`) return { problem: { ...networkProblem(), status: 412 } };
    return { data: this.#store(write.values), etag: `"${String(this.etag)}"` };
  }

  #store(values: Values): StoredObject {
    this.etag += 1;
    this.object = { id: 'x', internal: { latestVersion: this.etag }, ...values };
    return this.object;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('save queue', () => {
  it('creates once although responses are lost and the text changes meanwhile', async () => {
    const server = new SimulatedServer(['lostResponse', 'unavailable', 'ok', 'ok']);
    const queue = new SaveQueue(null, null, server.send);
    const first = queue.save({ title: 'a' });
    await vi.advanceTimersByTimeAsync(100);
    const second = queue.save({ title: 'ab' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await first).toMatchObject({ saved: { title: 'ab' } });
    expect(await second).toMatchObject({ saved: { title: 'ab' } });
    expect(server.created).toBe(1);
    expect(server.object).toMatchObject({ title: 'ab' });
  });

  it('creates the newest values after a refusal for now, and nothing of what was discarded', async () => {
    const server = new SimulatedServer(['unavailable', 'ok']);
    const queue = new SaveQueue(null, null, server.send);
    const first = queue.save({ title: 'discarded' });
    await vi.advanceTimersByTimeAsync(100);
    queue.cancel();
    expect(await first).toEqual({ cancelled: true });
    const second = queue.save({ title: 'kept' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await second).toMatchObject({ saved: { title: 'kept', internal: { latestVersion: 1 } } });
  });

  it('repeats a creation whose response was lost, although a later attempt was refused for now', async () => {
    const server = new SimulatedServer(['lostResponse', 'unavailable']);
    const queue = new SaveQueue(null, null, server.send);
    const first = queue.save({ title: 'a' });
    await vi.advanceTimersByTimeAsync(100);
    const second = queue.save({ title: 'b' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await Promise.all([first, second])).toMatchObject([{ saved: { title: 'b' } }, {}]);
    expect(server.created).toBe(1);
    expect(server.writes.map(({ kind }) => kind)).toEqual(['create', 'create', 'create', 'update']);
  });

  it('repeats a creation that an earlier page sent, then saves the newest values', async () => {
    const server = new SimulatedServer([]);
    const creation = { values: { title: 'a' }, key: 'k' };
    void server.send({ kind: 'create', ...creation });
    await vi.advanceTimersByTimeAsync(100);
    const queue = new SaveQueue(null, null, server.send, undefined, creation);
    const saved = queue.save({ title: 'ab' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await saved).toMatchObject({ saved: { title: 'ab' } });
    expect(server.created).toBe(1);
  });

  it('creates the newest values if the server refuses the repeated creation of earlier ones', async () => {
    const server = new SimulatedServer([]);
    const refused = { ...networkProblem(), status: 400 };
    const send = (write: SaveRequest) =>
      write.values.title === 'not valid' ? Promise.resolve({ problem: refused }) : server.send(write);
    const queue = new SaveQueue(null, null, send, undefined, { values: { title: 'not valid' }, key: 'k' });
    const saved = queue.save({ title: 'valid' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await saved).toMatchObject({ saved: { title: 'valid' } });
  });

  it('saves again after a read that belonged to a save was cancelled', async () => {
    const server = new SimulatedServer([]);
    const queue = new SaveQueue(null, null, server.send);
    const read = queue.repeat(() => Promise.resolve({ problem: networkProblem() }));
    await vi.advanceTimersByTimeAsync(100);
    queue.cancel();
    expect(await read).toMatchObject({ problem: { status: 0 } });
    const saved = queue.save({ title: 'a' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await saved).toMatchObject({ saved: { title: 'a' } });
  });

  it('waits 2, 4, 8 seconds between attempts, and not at all after "Try now"', async () => {
    const server = new SimulatedServer(['lost', 'lost', 'lost', 'lost']);
    const queue = new SaveQueue(null, null, server.send);
    const saved = queue.save({ title: 'a' });
    const sent = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return server.writes.length;
    };
    expect(await sent(1900)).toBe(1);
    expect(await sent(200)).toBe(2);
    expect(await sent(3700)).toBe(2);
    expect(await sent(400)).toBe(3);
    queue.retryNow();
    expect(await sent(30)).toBe(4);
    queue.retryNow();
    expect(await sent(30)).toBe(5);
    expect(await saved).toMatchObject({ saved: { title: 'a' } });
    expect(queue.state).toEqual({ busy: false, retry: null });
  });

  it('waits as long as the server asks for, at least a second', async () => {
    const server = new SimulatedServer([]);
    const asked = [7, 0];
    const queue = new SaveQueue(null, null, (write) => {
      const retryAfter = asked.shift();
      const limited = { ...networkProblem(), status: 429, retryAfter: retryAfter ?? null };
      return retryAfter === undefined ? server.send(write) : Promise.resolve({ problem: limited });
    });
    const saved = queue.save({ title: 'a' });
    await vi.advanceTimersByTimeAsync(6900);
    expect(asked).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(server.writes.length).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await saved).toMatchObject({ saved: { title: 'a' } });
  });

  it('repeats a request that belongs to a save with the same delays, until the save is cancelled', async () => {
    const states: QueueState[] = [];
    const queue = new SaveQueue('x', null, vi.fn(), (state) => states.push(state));
    const lost = { problem: networkProblem() };
    const responses = [lost, lost, 'read'];
    const first = queue.repeat(() => Promise.resolve(responses.shift() ?? null));
    await vi.advanceTimersByTimeAsync(2100);
    expect(responses).toEqual(['read']);
    queue.retryNow();
    expect(await first).toBe('read');
    expect(states.map(({ retry }) => retry !== null)).toEqual([true, false, true, false]);
    const second = queue.repeat(() => Promise.resolve(lost));
    await vi.advanceTimersByTimeAsync(100);
    queue.cancel();
    expect(await second).toBe(lost);
  });

  it('sends one request at a time, each with the tag of the previous response', async () => {
    const server = new SimulatedServer(['slow', 'ok', 'ok']);
    const queue = new SaveQueue(null, null, server.send);
    const all = [queue.save({ n: 1 }), queue.save({ n: 2 })];
    await vi.advanceTimersByTimeAsync(10);
    all.push(queue.save({ n: 3 }));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(all);
    expect(server.maxInFlight).toBe(1);
    expect(server.writes.slice(1).map((write) => write.kind === 'update' && write.etag)).toEqual(['"1"']);
    expect(server.object).toMatchObject({ n: 3 });
  });

  it('stops at a refusal, and takes the next values as a new attempt', async () => {
    const server = new SimulatedServer([]);
    const refused = { ...networkProblem(), status: 400, fields: { title: ['required'] } };
    let refuse = true;
    const queue = new SaveQueue(null, null, (write) =>
      refuse ? Promise.resolve({ problem: refused }) : server.send(write),
    );
    expect(await queue.save({})).toEqual({ refused });
    refuse = false;
    const again = queue.save({ title: 'b' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await again).toMatchObject({ saved: { title: 'b' } });
  });

  it('reports a change by someone else instead of overwriting it', async () => {
    const server = new SimulatedServer([]);
    const queue = new SaveQueue(null, null, server.send);
    const created = queue.save({ a: 1 });
    await vi.advanceTimersByTimeAsync(100);
    await created;
    server.etag += 1;
    const refused = queue.save({ a: 2 });
    await vi.advanceTimersByTimeAsync(100);
    expect(await refused).toMatchObject({ refused: { status: 412 } });
    queue.rebase('x', baseOf({ id: 'x', internal: { latestVersion: 2 } }, '"2"'));
    const merged = queue.save({ a: 2 });
    await vi.advanceTimersByTimeAsync(100);
    expect(await merged).toMatchObject({ saved: { a: 2 } });
  });

  it('ends with the last values stored, whatever the network does', async () => {
    const outcome = fc.array(
      fc.constantFrom<RequestOutcome>('ok', 'lost', 'lostResponse', 'unavailable', 'slow'),
      {
        maxLength: 12,
      },
    );
    const pauses = fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(outcome, pauses, async (outcomes, waits) => {
        const server = new SimulatedServer([...outcomes]);
        const queue = new SaveQueue(null, null, server.send);
        let last: Values = {};
        const saves = [];
        for (const [index, wait] of waits.entries()) {
          last = { n: index };
          saves.push(saveUntilStored(queue, server, () => last));
          await vi.advanceTimersByTimeAsync(wait);
        }
        await vi.advanceTimersByTimeAsync(20 * 60_000);
        await Promise.all(saves);
        expect(server.created).toBe(1);
        expect(server.maxInFlight).toBe(1);
        expect(server.object).toMatchObject(last);
      }),
      {
        numRuns: 200,
        examples: [
          [
            ['ok', 'lostResponse', 'ok', 'lost'],
            [0, 2040, 0],
          ],
        ],
      },
    );
  });
});

/**
 * Saves as the editor does: after a 412, which a lost response leads to, the form is saved again, based on the
 * stored state. `form` returns the values that were typed last.
 */
async function saveUntilStored(queue: SaveQueue, server: SimulatedServer, form: () => Values): Promise<void> {
  const outcome = await queue.save(form());
  if ('refused' in outcome && outcome.refused.status === 412 && server.object) {
    queue.rebase('x', baseOf(server.object, `"${String(server.etag)}"`));
    await saveUntilStored(queue, server, form);
  }
}
