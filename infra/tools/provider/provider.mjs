// A provider of OpenID Connect for the tests, on a free loopback port, which it prints. Whoever logs in says who they are:
// the login page takes any name, and its groups from the argument, a JSON object of name to groups.
//
//     node provider.mjs REDIRECT_URI GROUPS
//
// It also serves people who try kexbench with a provider of its own.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const [redirectUri, groupsText] = process.argv.slice(2);
const groups = JSON.parse(groupsText);
const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: 'kexbench', client_secret: 'test-secret', redirect_uris: [redirectUri] }],
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email'] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['test'] },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, preferred_username: sub, email: `${sub}@example.org`, groups: groups[sub] ?? [] }),
  }),
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({ clientId: 'kexbench', accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope('openid profile email');
    await grant.save();
    return grant;
  },
});

const handled = provider.callback();
server.on('request', async (request, response) => {
  const url = new URL(request.url, issuer);
  if (!url.pathname.startsWith('/interaction/')) return handled(request, response);
  const name = url.searchParams.get('name');
  if (name === null) {
    response.setHeader('Content-Type', 'text/html');
    response.end('<form><label>Name <input name="name"></label> <button>Log in</button></form>');
    return undefined;
  }
  return provider.interactionFinished(request, response, { login: { accountId: name } });
});
console.log(issuer);
