import { randomBytes } from "node:crypto";

const conversation = "c-1";
const sender = { kind: "customer", name: "Ada" };
const signal = new AbortController().signal;
const start = {
  account: { channel: "custom.kiosk", address: "k-1" },
  customer: { name: "Ada", attributes: { a: "b" }, contacts: [{ type: "email", address: "a@b" }] },
  entryPoint: "1007",
};
export const list = {
  title: "Which?",
  list: {
    sections: [{ title: "Open", items: [{ id: "1", title: "x", actions: [{ type: "y" }] }] }],
  },
};
export const text = { type: "text", text: "Hi", sender, conversation };
export const asset = { channel: "custom.kiosk", sender: "customer", name: "a.png", size: 3 };

/** What each function of the package is rightly called with. */
export const rightCalls: Readonly<Record<string, readonly unknown[]>> = {
  "messages.send": [[text, { ...text, attributes: { k: "v" } }], { metadata: { a: "b" }, signal }],
  "messages.start": [{ ...text, conversation: start }, { signal }],
  "messages.reply": [
    { conversationId: "c-1" },
    { type: "richMessage.listpicker", sender: "custom_bot", content: list },
    { signal },
  ],
  "messages.escalate": ["c-1", "custom_bot", { content: { a: [1] }, messageId: "m" }, { signal }],
  "messages.end": ["c-1", "customer", { attributes: { a: { value: "b", external: true } } }, {}],
  "conversations.get": ["c-1", { signal }],
  "assets.create": [asset, { signal }],
  "assets.get": ["a-1", { signal }],
  "assets.delete": ["a-1", { signal }],
  "assets.upload": [randomBytes(3), { ...asset, signal }],
  "assets.download": ["a-1", { signal }],
  request: [
    {
      service: "Portal Manager",
      version: "v4",
      baseUrl: "http://127.0.0.1:1/portal/v4",
      method: "POST",
      path: "/portals/{id}",
      params: { id: "1" },
      query: { q: "a", n: 1 },
      body: { a: [{ b: 1 }] },
      signal,
    },
  ],
  connect: [
    {
      baseUrl: "https://h.example/v3",
      tokenUrl: "https://h.example/t",
      clientId: "c",
      clientSecret: "s",
    },
    { pacing: "after-refusal", retry: { retries: 1 }, environment: {}, onWait: () => {} },
  ],
  callbacks: [
    {
      authenticate: { basic: { username: "u", password: "p" } },
      onMessage: () => {},
    },
  ],
  conversationApp: [{ authenticate: { bearer: "b" }, messageTimeoutMs: 5, acknowledge: "after" }],
  redisMemory: [{ url: "redis://localhost", name: "bot", rememberMs: 5 }],
  startAuthorization: [
    {
      authUrl: "https://h.example/a",
      clientId: "c",
      redirectUri: "https://h.example/b",
      scope: "a",
    },
  ],
  codeFromRedirect: ["https://h.example/b?code=c&state=s", "s"],
  maySend: ["customer", "text"],
  sendersOf: ["text"],
};
