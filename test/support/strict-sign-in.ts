import { createHash, randomBytes } from "node:crypto";
import { type Ask, type Reply, refuse } from "./strict-http.js";

/** What the service's client and its public client are known by. */
export const credentials = { clientId: "server-1", clientSecret: "server-secret" } as const;
export const publicClient = {
  clientId: "spa-7",
  redirectUri: "https://app.example.com/back?tab=1",
  scopes: ["openid", "chat.read", "chat.write"],
} as const;

interface Grant {
  readonly variant: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scope: string;
}

const oauthError = (error: string): Reply => ({ status: 400, json: { error } });

const isForm = ({ headers }: Ask): boolean =>
  headers["content-type"] === "application/x-www-form-urlencoded";

/** Tokens for the server-to-server calls (contract §3), and the code flow of §5.3, two variants. */
export const strictSignIn = () => {
  const tokens = new Map<string, readonly string[]>();
  const codes = new Map<string, Grant>();
  let issued = 0;

  const serverToken = (ask: Ask): Reply => {
    const form = new URLSearchParams(ask.body.toString());
    if (ask.method !== "POST" || !isForm(ask)) return oauthError("invalid_request");
    if (form.get("grant_type") !== "client_credentials")
      return oauthError("unsupported_grant_type");
    const known =
      form.get("client_id") === credentials.clientId &&
      form.get("client_secret") === credentials.clientSecret;
    if (!known) return { status: 401, json: { error: "invalid_client" } };
    issued += 1;
    const token = `server-token-${issued}`;
    tokens.set(token, (form.get("scope") ?? "").split(" "));
    // Nothing but the token is shown by any document.
    return { status: 200, json: { access_token: token } };
  };

  const authorize = ({ method, url: { searchParams: asked } }: Ask, variant: string): Reply => {
    const redirectUri = asked.get("redirect_uri") ?? "";
    const scope = asked.get("scope") ?? "";
    const good =
      method === "GET" &&
      asked.get("client_id") === publicClient.clientId &&
      redirectUri === publicClient.redirectUri &&
      asked.get("response_type") === "code" &&
      asked.get("code_challenge_method") === "S256" &&
      scope.split(" ").every((each) => publicClient.scopes.some((own) => own === each));
    const challenge = asked.get("code_challenge") ?? "";
    if (!good || !/^[\w-]{43}$/.test(challenge)) return oauthError("invalid_request");
    const code = randomBytes(12).toString("base64");
    codes.set(code, { variant, redirectUri, challenge, scope });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", asked.get("state") ?? "");
    return { status: 302, headers: { location: back.href } };
  };

  const exchange = (ask: Ask, variant: string): Reply => {
    const form = new URLSearchParams(ask.body.toString());
    const code = form.get("code") ?? "";
    const grant = codes.get(code);
    codes.delete(code);
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const good =
      ask.method === "POST" &&
      isForm(ask) &&
      form.get("grant_type") === "authorization_code" &&
      form.get("client_id") === publicClient.clientId &&
      form.get("redirect_uri") === grant?.redirectUri &&
      grant?.challenge === proof &&
      grant.variant === variant;
    if (!good || !grant) return oauthError("invalid_grant");
    const token = `${variant}-${randomBytes(6).toString("hex")}`;
    const { scope } = grant;
    return { status: 200, json: { access_token: token, expires_in: "900", scope } };
  };

  return {
    issued: () => issued,
    /** Makes every token worthless. */
    revoke: () => tokens.clear(),
    serverToken,
    /** `/users/authorize`, `/customers/token` and so on; undefined for other paths. */
    codeFlow: (ask: Ask): Reply | undefined => {
      const [, variant = "", step] =
        /^\/(users|customers)\/(authorize|token)$/.exec(ask.url.pathname) ?? [];
      if (step === undefined) return undefined;
      return step === "authorize" ? authorize(ask, variant) : exchange(ask, variant);
    },
    /** Why a call may not be made (contract §2.1, §2.2); undefined where it may. */
    refusal: ({ headers }: Ask, ...scopes: string[]): Reply | undefined => {
      const granted = tokens.get((headers.authorization ?? "").replace(/^Bearer /, ""));
      if (!granted) return refuse(401, 104, "Token missing, invalid or expired.");
      const wanted = scopes.map((scope) => `app.conversation.conversationmgr.${scope}`);
      return wanted.some((scope) => granted.includes(scope))
        ? undefined
        : refuse(403, 197, "Scope missing.");
    },
  };
};

export type StrictSignIn = ReturnType<typeof strictSignIn>;
