// Starts an OpenID Connect provider with one client on a free port, and prints its URL:
// node provider.mjs REDIRECT-URI ACCOUNTS. ACCOUNTS is JSON with the claims of each account. A login
// page would ask for the account; here `login_hint` names it, and without one the login is denied.
// `oidc-provider` is found in NODE_PATH.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const path = createRequire(import.meta.url).resolve('oidc-provider');
const { Provider } = await import(pathToFileURL(path));

const [redirectUri, text] = process.argv.slice(2);
const accounts = JSON.parse(text);

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: 'cms', client_secret: 'a-client-secret', redirect_uris: [redirectUri] }],
  cookies: { keys: ['a-key-for-tests'] },
  claims: { email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  conformIdTokenClaims: process.env.CLAIMS_IN_USERINFO === '1',
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) =>
    accounts[id] && { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) },
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client.clientId,
      accountId: oidc.session.accountId,
    });
    grant.addOIDCScope('openid email profile');
    await grant.save();
    return grant;
  },
});

const handle = provider.callback();
server.on('request', async (request, response) => {
  if (!request.url.startsWith('/interaction/')) return handle(request, response);
  const { params } = await provider.interactionDetails(request, response);
  const result = params.login_hint
    ? { login: { accountId: params.login_hint } }
    : { error: 'access_denied' };
  await provider.interactionFinished(request, response, result);
});
console.log(issuer);
// The library still prints notices after the reader of the URL has closed the output.
process.stdout.on('error', () => {});
