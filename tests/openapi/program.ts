// Typical requests of a front end with the generated client; an unexpected response ends the program.
import * as api from './client/index.js';
import { client } from './client/client.gen.js';
import * as management from './management/index.js';
import { client as managementClient } from './management/client.gen.js';

declare const process: { argv: string[] };
const [baseUrl, key] = process.argv.slice(2) as [string, string];
client.setConfig({ baseUrl, headers: { 'X-AUTH-TOKEN': key } });

function equal(found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

const created = await api.newsCreate({ body: { id: 'a', title: 'First' }, throwOnError: true });
equal([created.data.id, created.data.title, created.data.internal?.status], ['a', 'First', 'draft']);
const refused = await api.newsCreate({ body: { id: 'a', title: '' } });
equal(refused.response?.status, 400);

equal((await api.newsList({ throwOnError: true })).data.total_count, 0);
await api.newsPublish({ path: { id: 'a' }, throwOnError: true });
const listed = await api.newsList({ query: { limit: 5, order_direction: 'desc' }, throwOnError: true });
equal(listed.data.data.map((one) => one.title), ['First']);

await api.newsPatch({ path: { id: 'a' }, body: { title: 'Second' }, throwOnError: true });
const got = await api.newsGet({ path: { id: 'a' }, throwOnError: true });
equal([got.data.title, got.data.internal?.status], ['Second', 'modified']);
await api.newsUpdate({ path: { id: 'a' }, body: { id: 'a', title: 'Third' }, throwOnError: true });

const batch = await api.newsBatchCreate({ body: [{ id: 'b', title: 'B' }], throwOnError: true });
equal(batch.data.batch_success_count, 1);
await api.newsDelete({ path: { id: 'a' }, throwOnError: true });
equal((await api.newsGet({ path: { id: 'a' } })).response?.status, 404);

// The client of the management document knows no type, and works with all.
managementClient.setConfig({ baseUrl, headers: { 'X-AUTH-TOKEN': key, 'X-MODE': 'preview' } });
const context = await management.getAuthContext({ throwOnError: true });
equal([context.data.rights.admin, context.data.by.kind], [true, 'key']);
const news = { contentType: 'news' };
const anyNews = await management.contentCreate({ path: news, body: { id: 'c', title: 'C' }, throwOnError: true });
equal([anyNews.data.id, anyNews.data['title']], ['c', 'C']);
const page = await management.contentList({
  path: news,
  query: { 'fields[]': ['title'], filters: '{"title":{"type":"equals","filter":"C"}}' },
  throwOnError: true,
});
equal(page.data.data, [{ id: 'c', title: 'C' }]);
const preview = { action: 'delete' as const, all: true, dryRun: true };
const matching = await management.contentBulk({ path: news, body: preview, throwOnError: true });
equal('matched' in matching.data && matching.data.matched, 2);
equal((await management.getActivity({ query: { limit: 1 }, throwOnError: true })).data.data.length, 1);
console.log('the generated clients work');
