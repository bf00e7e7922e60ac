// @vitest-environment jsdom
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

const load = () => import('./router.svelte');
let router: Awaited<ReturnType<typeof load>>;

const arrived = () =>
  new Promise((resolve) => addEventListener('popstate', () => setTimeout(resolve), { once: true }));

beforeAll(async () => {
  history.replaceState(null, '', '/admin/c/post');
  router = await load();
  window.scrollTo = () => undefined;
});

describe('leaving a screen whose text could not be stored', () => {
  let mayLeave = true;
  let asked = 0;

  beforeEach(() => {
    mayLeave = true;
    router.navigate('/admin/c/post');
    router.navigate('/admin/c/post/a');
    asked = 0;
    const stop = router.guardNavigation(() => {
      asked += 1;
      return mayLeave;
    });
    return stop;
  });

  it('asks before a link is followed', () => {
    mayLeave = false;
    router.navigate('/admin/trash');
    expect(asked).toBe(1);
    expect(location.pathname).toBe('/admin/c/post/a');
  });

  it('asks before Back, and stays when the user wants to', async () => {
    mayLeave = false;
    history.back();
    await arrived();
    await arrived();
    expect(asked).toBe(1);
    expect(location.pathname).toBe('/admin/c/post/a');
    expect(router.route.path).toBe('c/post/a');
  });

  it('goes back when the user agrees', async () => {
    history.back();
    await arrived();
    expect(asked).toBe(1);
    expect(router.route.path).toBe('c/post');
  });

  it('does not ask for another panel of the same screen', async () => {
    mayLeave = false;
    router.navigate('/admin/c/post/a?panel=versions');
    history.back();
    await arrived();
    expect(asked).toBe(0);
    expect(router.route.query.get('panel')).toBeNull();
  });
});

describe('forms of new objects of one type', () => {
  const open = (query: string) => {
    const before = router.route.opened;
    router.navigate(`/admin/c/post/+new${query}`);
    return router.route.opened - before;
  };

  it('are screens of their own', () => {
    router.navigate('/admin/c/post');
    expect(open('?key=a')).toBe(1);
    expect(open('?key=a&panel=translations')).toBe(0);
    expect(open('?key=b')).toBe(1);
  });

  it('are left only if the user agrees', () => {
    open('?key=a');
    const stop = router.guardNavigation(() => false);
    expect(open('?key=b')).toBe(0);
    expect(location.search).toBe('?key=a');
    stop();
  });

  it('open again with Back', async () => {
    open('?key=a');
    open('?key=b');
    const before = router.route.opened;
    history.back();
    await arrived();
    expect(router.route.query.get('key')).toBe('a');
    expect(router.route.opened - before).toBe(1);
  });
});

describe('addresses', () => {
  it('that are damaged open a screen all the same', () => {
    router.navigate('/admin/c/post/100%25%');
    expect(router.route.segments).toEqual(['c', 'post', '100%25%']);
  });

  it('of built-in types are those of their screens', () => {
    expect(router.listHref('_media')).toBe('/admin/media');
    expect(router.listHref('_webhooks')).toBe('/admin/webhooks');
    expect(router.objectHref('post', 'a b', { panel: 'used' })).toBe('/admin/c/post/a%20b?panel=used');
  });
});
