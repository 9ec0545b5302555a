import { randomUUID } from "node:crypto";
import { strictContent } from "./strict-content.js";
import { type StrictCallback, strictDeliveries } from "./strict-deliveries.js";
import { type Ask, type Json, type Reply, refuse, strictServer } from "./strict-http.js";
import { credentials, strictSignIn } from "./strict-sign-in.js";

/**
 * The runtime half of a second service of the same contract, written by hand and from the contract
 * alone: another base path, another word of the vendor, ids of another form, sparse answers, content
 * as text in callbacks, messages that come twice, a content server of its own. It shares nothing with the
 * emulator, the definitions or the client, so that one mistake is not made twice.
 */

export const vendor = "acme";
export const account = { channel: "custom.kiosk", address: "kiosk-berlin-01" } as const;

const base = "/api/tenants/t-9/conversation/v3";

const agents = ["custom_agent", `${vendor}_agent`];
const bots = ["custom_bot", `${vendor}_bot`];

/** Specification §6. */
const senders: Readonly<Record<string, readonly string[]>> = {
  text: ["customer", ...agents, ...bots],
  "typing.start": ["customer", ...agents, ...bots],
  "conversation.end": ["customer", ...agents, ...bots],
  "escalation.transfer": [...agents, ...bots],
  "richMessage.listpicker": [...agents, ...bots],
  "conversation.state": agents,
  "agent.join": agents,
  "delete.soft": ["customer"],
};

interface Conversation {
  readonly id: string;
  readonly about: Json;
  side: "bot" | "agent" | "over";
  readonly messages: Json[];
}

const objectAt = (value: unknown, name: string): Json => {
  const inner: unknown = (value as Json | undefined)?.[name];
  return typeof inner === "object" && inner !== null ? (inner as Json) : {};
};

export const startStrictRuntimeService = async (
  sides: Readonly<Record<"customer" | "bot" | "agent", StrictCallback>>,
) => {
  const signIn = strictSignIn();
  const content = await strictContent(account.channel);
  const deliveries = strictDeliveries(sides);
  const conversations = new Map<string, Conversation>();
  const calls: string[] = [];
  let throttled = 0;

  /** The conversation of a message, begun where it names none; undefined where it cannot go on. */
  const conversationOf = (given: Json): Conversation | undefined => {
    if (given.id !== undefined) return conversations.get(String(given.id));
    const { account: named } = given;
    const isOurs =
      objectAt(named, "channel").type === account.channel &&
      objectAt(given, "account").address === account.address &&
      objectAt(given, "customer").type === "individual";
    if (!isOurs) return undefined;
    const begun = { id: randomUUID(), about: given, side: "bot" as const, messages: [] };
    conversations.set(begun.id, begun);
    return begun;
  };

  const route = (conversation: Conversation, sender: string, type: string, told: Json): void => {
    if (sender === "customer") deliveries.send(conversation.side, told);
    else deliveries.send("customer", told);
    if (type === "escalation.transfer") {
      conversation.side = "agent";
      deliveries.send("agent", told);
    }
    if (type === "conversation.end") conversation.side = "over";
  };

  const accept = (message: Json): Reply | Json => {
    const type = String(objectAt(message, "type").value);
    const sender = String(objectAt(message, "sender").type);
    if (!senders[type]?.includes(sender)) return refuse(400, 196, `${sender} may not send ${type}`);
    const attachments = objectAt(message, "attachments").attachment;
    const carried = Array.isArray(attachments) ? (attachments as Json[]) : [];
    if (!carried.every(({ id }) => content.use(id))) return refuse(400, 152, "No such asset.");
    const conversation = conversationOf(objectAt(message, "conversation"));
    if (!conversation || conversation.side === "over") return refuse(400, 630, "Not usable.");
    const told = {
      ...message,
      id: `msg/${conversation.messages.length + 1}:${conversation.id}`,
      conversation: { id: conversation.id },
      created: new Date().toISOString(),
    };
    conversation.messages.push({ ...told, status: "sent" });
    route(conversation, sender, type, told);
    return { id: told.id, conversation: { id: conversation.id } };
  };

  const send = (body: Json): Reply => {
    const list = objectAt(body, "messages").message;
    if (!Array.isArray(list) || list.length === 0) return refuse(400, 143, "messages missing");
    const answers: Json[] = [];
    for (const message of list) {
      const answer = accept(message as Json);
      if ("status" in answer) return answer as Reply;
      answers.push(answer);
    }
    return { status: 202, json: { messages: { message: answers } } };
  };

  const transcript = (id: string): Reply => {
    const found = conversations.get(id);
    if (!found) return refuse(404, 470, "No such conversation.");
    if (found.side !== "over") return refuse(400, 152, "Still going on.");
    const { about, messages } = found;
    return { status: 200, json: { ...about, id, messages: { message: messages } } };
  };

  const operations = (ask: Ask, path: string): Reply => {
    const body: Json = ask.body.length > 0 ? JSON.parse(ask.body.toString()) : {};
    const [, collection, id = ""] = path.split("/");
    const call = `${ask.method} /${collection}${id && `/${id === "messages" ? id : "{id}"}`}`;
    calls.push(call);
    const manages = ["interaction.manage"];
    const reads = [...manages, "interaction.read"];
    const may = (...scopes: string[]) => signIn.refusal(ask, ...scopes);
    switch (call) {
      case "POST /conversations/messages":
        return may(...manages) ?? (throttled-- > 0 ? tooMany : send(body));
      case "GET /conversations/{id}":
        return may(...reads) ?? transcript(id);
      case "POST /assets":
        return may(...manages) ?? content.create(body);
      case "GET /assets/{id}":
      case "DELETE /assets/{id}":
        return may(...(ask.method === "GET" ? reads : manages)) ?? content.item(ask.method, id);
      default:
        return refuse(404, 100, "No such path.");
    }
  };

  const tooMany: Reply = {
    status: 429,
    json: { code: "429-001", developerMessage: "Too many requests." },
  };

  const server = await strictServer((ask) => {
    const { pathname } = ask.url;
    if (pathname === "/oauth2/v1/token") return signIn.serverToken(ask);
    if (pathname.startsWith(`${base}/`)) return operations(ask, pathname.slice(base.length));
    return signIn.codeFlow(ask) ?? { status: 404 };
  });
  return {
    origin: server.origin,
    settings: {
      baseUrl: `${server.origin}${base}`,
      tokenUrl: `${server.origin}/oauth2/v1/token`,
      ...credentials,
      platformName: vendor,
    },
    /** Calls of operations in order, such as `GET /assets/{id}`. */
    calls,
    deliveries,
    tokens: signIn.issued,
    revokeTokens: signIn.revoke,
    /** The next so many messages are too many. */
    throttle: (times: number): void => {
      throttled = times;
    },
    [Symbol.asyncDispose]: async () => {
      await deliveries.idle();
      await content.close();
      await server.close();
    },
  };
};
