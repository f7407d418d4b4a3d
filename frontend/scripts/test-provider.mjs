/**
 * A real OpenID Connect provider on loopback, for the platform's tests. It signs anybody in under the name that they type:
 * `alice@example.com` has that verified address, `unverified+alice@example.com` has one that is not.
 * Called with the redirect address of the client; writes its own issuer as the first line.
 */
import { createServer } from "node:http";
import Provider from "oidc-provider";

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: "dressage", client_secret: "a secret of the client", redirect_uris: [process.argv[2]] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id.replace("unverified+", ""), email_verified: !id.startsWith("unverified+") }),
    }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
