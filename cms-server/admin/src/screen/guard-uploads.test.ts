// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

history.replaceState(null, '', '/admin/media');
const { navigate, route } = await import('../router.svelte');
const { cancelGuardedUploads, guardUploads, maySignOut } = await import('./guard-uploads');

const uploads = { running: 0, cancelAll: () => void (uploads.running = 0) };
const ask = vi.fn<(question?: string) => boolean>();
let stop: () => void;

beforeEach(() => {
  window.scrollTo = () => undefined;
  window.confirm = ask;
  ask.mockReset().mockReturnValue(false);
  navigate('/admin/media');
  stop = guardUploads(uploads, () => 'Leave?');
  uploads.running = 1;
});
afterEach(() => {
  uploads.running = 0;
  stop();
});

const asksBeforeUnload = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }));

it('asks before the screen is left while uploads run', () => {
  navigate('/admin/c/post');
  expect(ask).toHaveBeenCalledExactlyOnceWith('Leave?');
  expect(route.path).toBe('media');
  expect(asksBeforeUnload()).toBe(true);
  ask.mockReturnValue(true);
  navigate('/admin/c/post');
  expect(route.path).toBe('c/post');
});

it('does not ask when all uploads are finished', () => {
  uploads.running = 0;
  expect(asksBeforeUnload()).toBe(false);
  navigate('/admin/c/post');
  expect(route.path).toBe('c/post');
  expect(ask).not.toHaveBeenCalled();
});

it('does not ask for uploads of a screen that was left', () => {
  stop();
  expect(maySignOut()).toBe(true);
  expect(asksBeforeUnload()).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});

it('asks once before sign-out, which cancels uploads', () => {
  expect(maySignOut()).toBe(false);
  ask.mockReset().mockReturnValue(true);
  expect(maySignOut()).toBe(true);
  cancelGuardedUploads();
  navigate('/admin/sign-in');
  expect(ask).toHaveBeenCalledOnce();
  expect(route.path).toBe('sign-in');
});
