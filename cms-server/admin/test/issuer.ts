// An OpenID Connect provider for flows: it signs in everybody as `account`, without a form.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

const ID = 'someone';

export class Issuer {
  /** Claims of the person at the provider; null: the provider refuses. */
  account: Record<string, unknown> | null = null;
  url = '';
  readonly #server = createServer();

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const { port } = this.#server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${String(port)}`;
    const provider = new Provider(this.url, {
      clients: [
        { client_id: 'cms', client_secret: 'a-client-secret', redirect_uris: ['http://127.0.0.1/any'] },
      ],
      cookies: { keys: ['a-key-for-tests'] },
      claims: { email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...this.account }),
      }),
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    // The port of the page is not known when the client is registered.
    Object.assign(provider.Client.prototype, { redirectUriAllowed: () => true });
    const handle = provider.callback();
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (!request.url?.startsWith('/interaction/')) void handle(request, response);
      else {
        const result = this.account ? { login: { accountId: ID } } : { error: 'access_denied' };
        void provider.interactionFinished(request, response, result);
      }
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
