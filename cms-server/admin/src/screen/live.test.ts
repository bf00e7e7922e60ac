import { expect, it, vi } from 'vitest';
import type { Presence } from '../api/change-feed';
import type { LiveMessage } from '../api/shared-stream';
import { presentOn, startLive } from './live.svelte';

const stream = vi.hoisted(() => ({ send: (_message: LiveMessage): void => undefined }));
vi.mock('../api/shared-stream', () => ({
  joinSharedStream: (_user: string, receive: (message: LiveMessage) => void) => {
    stream.send = receive;
    return () => undefined;
  },
}));

const presence = (tab: string): Presence => ({
  tab,
  contentType: 'post',
  id: 'kettle',
  property: null,
  by: 'Ben',
  byId: null,
  ended: false,
});

it('live updates forget who is present when the stream starts again', () => {
  startLive('ann');
  const tabs = () => presentOn('post', 'kettle', 'own').map(({ tab }) => tab);
  stream.send({ kind: 'state', live: true });
  stream.send({ kind: 'presence', presence: presence('a') });
  stream.send({ kind: 'presence', presence: presence('b') });
  expect(tabs()).toEqual(['a', 'b']);
  stream.send({ kind: 'state', live: true });
  stream.send({ kind: 'presence', presence: presence('b') });
  expect(tabs()).toEqual(['b']);
});
