// Compiled by test/built/consumer.test.ts as a user's program: strict, exactOptionalPropertyTypes, CommonJS and ESM.
import { createServer } from "node:http";
import {
  type Attachment,
  callbacks,
  connect,
  conversationApp,
  type Message,
  type MessageFrom,
  type MessageTypesOf,
  type ReceivedMessage,
  redisMemory,
  type SendersOf,
} from "pulumi-conversation/runtime";

const hub = connect({ baseUrl: "https://hub.example.com/conversation/v3", plan: "basic" });
// @ts-expect-error no such setting
connect({ baseURL: "https://hub.example.com/conversation/v3" });
// @ts-expect-error no such plan
connect({ plan: "gold" });

const conversation = "c-1";
hub.messages.send({ type: "text", text: "Hi", sender: "customer", conversation });
hub.messages.send({ type: "agent.join", sender: { kind: "custom_agent", name: "Ann" }, conversation });
hub.messages.send([
  { type: "typing.start", sender: "custom_bot", conversation },
  { type: "escalation.transfer", sender: "platform_bot", conversation, content: { to: "agents" } },
]);
// @ts-expect-error a customer does not join as an agent
hub.messages.send({ type: "agent.join", sender: "customer", conversation });
// @ts-expect-error nor with a name
hub.messages.send({ type: "agent.join", sender: { kind: "customer", name: "Ada" }, conversation });
// @ts-expect-error a bot does not transfer queues
hub.messages.send({ type: "queue.transfer", sender: "custom_bot", conversation });
// @ts-expect-error only customers delete
hub.messages.send({ type: "delete.soft", sender: "custom_agent", conversation, parent: "m-1" });
// @ts-expect-error a customer sends no list pickers
hub.messages.send({ type: "richMessage.form", sender: "customer", conversation });
// @ts-expect-error no such type
hub.messages.send({ type: "text.loud", sender: "customer", conversation });
// @ts-expect-error no such sender
hub.messages.send({ type: "text", text: "Hi", sender: "system", conversation });
hub.messages.send({ type: "text", html: "<b>Hi</b>", redact: true, sender: "customer", conversation });
// @ts-expect-error a text has one form
hub.messages.send({ type: "text", html: "<b>Hi</b>", text: "Hi", sender: "customer", conversation });
hub.messages.send({ type: "agent.available", sender: "custom_agent", conversation: { entryPoint: "1007" } });
// @ts-expect-error an agent is available at an entry point
hub.messages.send({ type: "agent.available", sender: "custom_agent", conversation });
hub.messages.send({ type: "custom.order", xml: "<a/>", sender: "customer", conversation });
hub.messages.reply("c-1", { type: "custom.order", content: { order: 1 }, sender: "custom_bot" });
hub.messages.start({ type: "bot.transfer", sender: "custom_bot", conversation: { survey: "c-1" } });
// @ts-expect-error only own types have XML
hub.messages.send({ type: "status.read", xml: "<a/>", sender: "customer", conversation });
// @ts-expect-error a text has a text, HTML, or attachments
hub.messages.send({ type: "text", sender: "customer", conversation });
// @ts-expect-error a soft deletion names the message
hub.messages.send({ type: "delete.soft", sender: "customer", conversation });
// @ts-expect-error typing holds nothing
hub.messages.send({ type: "typing.end", sender: "customer", conversation, text: "Hi" });
// @ts-expect-error a message belongs to a conversation
hub.messages.send({ type: "text", text: "Hi", sender: "customer" });
// @ts-expect-error a list picker has sections
hub.messages.send({ type: "richMessage.listpicker", sender: "custom_bot", conversation, content: { title: "?" } });

const start = { account: { channel: "custom.kiosk", address: "k-1" }, customer: { name: "Ada" } };
hub.messages.start({ type: "text", text: "Hi", sender: "customer", conversation: start });
// @ts-expect-error a start needs more than an id
hub.messages.start({ type: "text", text: "Hi", sender: "customer", conversation: "c-1" });
hub.messages.start({ type: "text", text: "Hi", sender: "customer", conversation: { account: start.account } });
hub.messages.start({ type: "richMessage.form", sender: "custom_bot", conversation: { survey: "c-1" } });
// @ts-expect-error a start needs an account, or the subject of a survey
hub.messages.start({ type: "text", text: "Hi", sender: "customer", conversation: { customer: start.customer } });

hub.messages.reply("c-1", { type: "richMessage.quickreply", sender: "custom_bot", content: { any: 1 } });
hub.messages.escalate({ conversationId: "c-1" }, "custom_bot");
// @ts-expect-error a customer does not escalate
hub.messages.escalate("c-1", "customer");
hub.messages.end("c-1", { kind: "custom_agent", name: "Ann" });

const allowed: MessageTypesOf<"customer"> = "undo";
// @ts-expect-error not for customers
const notAllowed: MessageTypesOf<"customer"> = "pagePush";
const senders: SendersOf<"agent.join"> = "platform_agent";
const fromBot: MessageFrom<"custom_bot"> = { type: "error", sender: "custom_bot", conversation };
// @ts-expect-error another sender
const notFromBot: MessageFrom<"custom_bot"> = { type: "error", sender: "customer", conversation };
const anyMessage: Message = fromBot;
const elsewhere: Attachment = { name: "a.png", contentType: "image/png", size: 1, url: "https://x.example/a.png" };
// @ts-expect-error an attachment is somewhere
const nowhere: Attachment = { name: "a.png", contentType: "image/png", size: 1 };

export const files = async (): Promise<Uint8Array> => {
  const asset = await hub.assets.upload("receipt.png", { channel: "custom.kiosk", sender: "customer" });
  await hub.messages.send({ type: "text", sender: "customer", conversation, attachments: [asset, elsewhere] });
  // @ts-expect-error no such sender
  await hub.assets.upload("receipt.png", { channel: "custom.kiosk", sender: "system" });
  return (await hub.assets.download(asset.id)).bytes;
};

const handler = callbacks({
  authenticate: { basic: { username: "hub", password: "secret" } },
  onMessage: async ({ type, text, conversationId, sender }) => {
    if (type === "text" && sender.kind === "customer") {
      await hub.messages.reply(conversationId, { type: "text", text: `You said ${text}`, sender: "custom_bot" });
    }
  },
});
createServer(handler.node);
// @ts-expect-error somebody must be authenticated
callbacks({ onMessage: () => {} });
// @ts-expect-error either of the two
callbacks({ authenticate: {}, onMessage: () => {} });

callbacks({
  authenticate: { bearer: "token" },
  memory: redisMemory({ url: "redis://localhost", name: "bot" }),
  onMessage: (message, { signal }) => {
    signal.throwIfAborted();
    const other: unknown = message.content?.anything;
    // @ts-expect-error what arrives is not known until it is checked
    const title: string = message.content?.title;
    return void [other, title];
  },
});
// @ts-expect-error before or after
callbacks({ authenticate: { bearer: "token" }, acknowledge: "never", onMessage: () => {} });
// A handler of the most general message takes every message.
const general = (message: ReceivedMessage): void => void message.content?.anything;
callbacks({ authenticate: { bearer: "token" }, onMessage: general });

const app = conversationApp({ authenticate: { bearer: "token" } });
app
  .on("text", ({ redact }) => void (redact satisfies boolean | undefined))
  .on(["typing.start", "typing.end"], ({ type }) => void (type satisfies "typing.start" | "typing.end"))
  .on("customer", "undo", async (message, { signal }) => {
    await hub.messages.reply(message, { type: "text", text: "Done", sender: "custom_bot" }, { signal });
  })
  .otherwise(({ type }) => void type);
app.on(["custom.order", "status.read"], ({ type }) => void (type satisfies "custom.order" | "status.read"));
app.on("customer", ["text", "custom.order"], ({ type }) => void (type satisfies "text" | "custom.order"));
// @ts-expect-error no such type
app.on("text.loud", () => {});
// @ts-expect-error a customer does not join as an agent
app.on("customer", "agent.join", () => {});
// @ts-expect-error no such sender
app.on("system", "text", () => {});
createServer(app.node);

const emulator = { baseUrl: "http://127.0.0.1:1/v3", tokenUrl: "t", clientId: "c", clientSecret: "s" };
const running = { ...emulator, controlUrl: "http://127.0.0.1:1/control", authUrl: "a" };
connect(running);
connect({ ...running, plan: "basic" });
connect(emulator, {
  onRequest: ({ method, template, attempt }) => void [method, template, attempt],
  onResponse: ({ status, ms }) => void [(status ?? 0) + ms],
});
// @ts-expect-error an answer may not come
connect(emulator, { onResponse: ({ status }) => void status.toFixed() });

hub.request({ service: "Case Manager", version: "v3", baseUrl: "https://x.example/case/v3", method: "GET", path: "/cases" });
// @ts-expect-error no document tells the address of another service
hub.request({ service: "Case Manager", version: "v3", method: "GET", path: "/cases" });

export { allowed, anyMessage, notAllowed, notFromBot, nowhere, senders };
