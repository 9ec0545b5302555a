import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

import { messageSenders } from "./specification.js";
import { wireOperations } from "./wire-table.js";

type Json = Record<string, unknown>;

/** A request whose body has been read. */
export interface Ask {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly contentType?: string;
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

const objectAt = (value: unknown, name: string): Json => {
  const inner: unknown = (value as Json | undefined)?.[name];
  return typeof inner === "object" && inner !== null ? (inner as Json) : {};
};

/** What the vendor's description has otherwise in a body. */
const wrongIn = (operation: string, body: Json): readonly string[] =>
  wireOperations.get(operation)?.sent?.(body, "") ?? [];

/** The error body of the contract (§2.2). */
const refuse = (status: number, number: number, developerMessage: string): Reply => ({
  status,
  json: { code: `${status}-${number}`, developerMessage, details: [{ key: "hint" }] },
});

interface Asset {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  content?: Buffer;
  used?: true;
}

/** Content types follow from the extension (contract §11). */
const contentTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  pdf: "application/pdf",
  txt: "text/plain",
};

const key = randomBytes(32);

const signature = (text: string): string => createHmac("sha256", key).update(text).digest("hex");

const lifetimeMs = 300_000;

/** Assets (contract §11), with their contents below signed addresses. */
const strictContent = (channelType: string, origin: () => string) => {
  const assets = new Map<string, Asset>();

  const signed = (method: string, id: string): Json => {
    const until = Date.now() + lifetimeMs;
    const path = `/vault/${id}/${until}`;
    return {
      contentUrl: `${origin()}${path}?X-Sig=${signature(`${method} ${path}`)}`,
      contentUrlExpiry: new Date(until).toISOString(),
    };
  };

  const take = (asset: Asset, { headers, body }: Ask): Reply => {
    if (headers["content-type"] !== asset.contentType) return { status: 415 };
    if (body.length !== asset.size) return { status: 400 };
    asset.content = body;
    return { status: 201 };
  };

  const vault = (ask: Ask): Reply => {
    const { method, url } = ask;
    const [, , id = "", until] = url.pathname.split("/");
    const asset = assets.get(id);
    const good = url.searchParams.get("X-Sig") === signature(`${method} ${url.pathname}`);
    if (!good || !asset || Number(until) < Date.now()) return { status: 403 };
    if (ask.headers.authorization !== undefined) return { status: 400 };
    if (method === "POST") return take(asset, ask);
    if (!asset.content) return { status: 404 };
    return { status: 200, contentType: asset.contentType, bytes: asset.content };
  };

  const create = (body: Json): Reply => {
    const name = String(body.name);
    const contentType = contentTypes[name.split(".").at(-1) ?? ""];
    const [wrong] = wrongIn("POST /assets", body);
    if (wrong || !contentType || objectAt(body, "channel").type !== channelType)
      return refuse(400, 143, wrong ?? "There is no such channel or file.");
    const id = String(1001 + assets.size);
    assets.set(id, { id, name, size: Number(body.size), contentType });
    return { status: 200, json: { id, ...signed("POST", id) } };
  };

  const item = (method: string, id: string): Reply => {
    const asset = assets.get(id);
    if (!asset) return refuse(404, 101, "No such asset.");
    if (method === "DELETE") {
      if (asset.used) return refuse(403, 112, "The asset is in use.");
      assets.delete(id);
      return { status: 204 };
    }
    const { name, size, contentType } = asset;
    return {
      status: 200,
      json: { id, name, size, contentType, ...signed("GET", id) },
    };
  };

  return {
    create,
    item,
    vault,
    /** Marks what a message carries as used, and describes it; nothing where there is no such asset. */
    use: ({ id, ...rest }: Json): readonly Json[] => {
      const asset = assets.get(String(id));
      if (!asset?.content || Object.keys(rest).length > 0) return [];
      asset.used = true;
      const { name, size, contentType } = asset;
      return [{ id, name, size, contentType }];
    },
  };
};

/** Where messages for one side go, and what is shown there (contract §10.3). */
interface StrictCallback {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly version: "v1" | "v3";
}

/** Version v1: content with its MIME type, and times in GMT without a zone. */
const v1 = ({ content, created, ...message }: Json): Json => {
  const { text, json } = Object(content);
  const type = text === undefined ? "application/json" : "text/plain";
  return {
    ...message,
    ...(content === undefined ? {} : { content: { type, value: text ?? json } }),
    created: String(created).replace("T", " ").replace("Z", ""),
  };
};

/**
 * Delivers in order for each side, every message twice, as a service may that did not hear the
 * first answer.
 */
const strictDeliveries = (sides: Readonly<Record<string, StrictCallback>>) => {
  const queues = new Map<string, Promise<void>>();
  const statuses: number[] = [];

  const post = async (side: StrictCallback, message: Json): Promise<void> => {
    const { username, password } = side;
    const known = Buffer.from(`${username}:${password}`).toString("base64");
    const reported = side.version === "v1" ? v1(message) : message;
    const body = { messages: { message: [{ ...reported, trace: { hop: 1 } }] }, page: 1 };
    const response = await fetch(side.url, {
      method: "POST",
      headers: {
        authorization: `Basic ${known}`,
        "content-type": "application/json; charset=utf-8",
      },
      body: JSON.stringify(body),
    });
    statuses.push(response.status);
  };

  return {
    /** Answers of the callbacks, in order of arrival. */
    statuses,
    send: (name: string, message: Json): void => {
      const side = sides[name];
      if (!side) return;
      const before = queues.get(name) ?? Promise.resolve();
      const twice = async (): Promise<void> => {
        await post(side, message);
        await post(side, message);
      };
      queues.set(name, before.then(twice));
    },
    /** When everything that was sent has been answered. */
    idle: async (): Promise<void> => void (await Promise.all(queues.values())),
  };
};

export const vendor = "acme";
export const account = { channel: "custom.kiosk", address: "kiosk-berlin-01" } as const;

const senders = new Map(messageSenders);

interface Conversation {
  readonly id: string;
  readonly about: Json;
  side: "bot" | "agent" | "over";
  readonly messages: Json[];
}

export type StrictSides = Readonly<Record<"customer" | "bot" | "agent", StrictCallback>>;

/**
 * The runtime half of the strict service: another word of the vendor, ids of another form, sparse answers,
 * messages that come twice.
 */
export const strictConversations = (sides: StrictSides, origin: () => string) => {
  const content = strictContent(account.channel, origin);
  const deliveries = strictDeliveries(sides);
  const conversations = new Map<string, Conversation>();
  let throttled = 0;

  /** The conversation of a message, begun where it names none; undefined where it cannot go on. */
  const conversationOf = (given: Json): Conversation | undefined => {
    if (given.id !== undefined) return conversations.get(String(given.id));
    const { account: named } = given;
    const isOurs =
      objectAt(named, "channel").type === account.channel &&
      objectAt(given, "account").address === account.address;
    if (!isOurs) return undefined;
    const begun = { id: randomUUID(), about: given, side: "bot" as const, messages: [] };
    conversations.set(begun.id, begun);
    return begun;
  };

  const route = (
    conversation: Conversation,
    sender: string,
    type: string,
    reported: Json,
  ): void => {
    if (sender === "customer") deliveries.send(conversation.side, reported);
    else deliveries.send("customer", reported);
    if (type === "escalation.transfer") {
      conversation.side = "agent";
      deliveries.send("agent", reported);
    }
    if (type === "conversation.end") conversation.side = "over";
  };

  const accept = (message: Json): Reply | Json => {
    const type = String(objectAt(message, "type").value);
    const sender = String(objectAt(message, "sender").type);
    if (!senders.get(type)?.includes(sender.replace(vendor, "platform")))
      return refuse(400, 199, `${sender} may not send ${type}`);
    const attachments = objectAt(message, "attachments").attachment;
    const carried = Array.isArray(attachments) ? (attachments as Json[]) : [];
    const attachment = carried.flatMap(content.use);
    if (attachment.length < carried.length) return refuse(400, 196, "No such asset.");
    const conversation = conversationOf(objectAt(message, "conversation"));
    if (!conversation || conversation.side === "over") return refuse(400, 630, "Not usable.");
    const reported = {
      ...message,
      ...(carried.length > 0 ? { attachments: { attachment } } : {}),
      id: `msg/${conversation.messages.length + 1}:${conversation.id}`.slice(0, 36),
      conversation: { id: conversation.id },
      created: new Date().toISOString(),
    };
    conversation.messages.push({ ...reported, status: "sent" });
    route(conversation, sender, type, reported);
    return { id: reported.id, conversation: { id: conversation.id } };
  };

  const send = (body: Json): Reply => {
    const [wrong] = wrongIn("POST /conversations/messages", body);
    if (wrong) return refuse(400, 196, wrong);
    const answers: Json[] = [];
    for (const message of objectAt(body, "messages").message as Json[]) {
      const answer = accept(message);
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

  const tooMany: Reply = {
    status: 429,
    json: { code: "429-001", developerMessage: "Too many requests." },
  };

  /** An operation with a good token; undefined for paths of the other half. */
  const operation = (method: string, path: string, body: Json): Reply | undefined => {
    const [, collection, id = ""] = path.split("/");
    switch (`${method} /${collection}${id && `/${id === "messages" ? id : "{id}"}`}`) {
      case "POST /conversations/messages":
        return throttled-- > 0 ? tooMany : send(body);
      case "GET /conversations/{id}":
        return transcript(id);
      case "POST /assets":
        return content.create(body);
      case "GET /assets/{id}":
      case "DELETE /assets/{id}":
        return content.item(method, id);
      default:
        return undefined;
    }
  };

  return {
    operation,
    vault: content.vault,
    deliveries,
    /** The next so many messages are too many. */
    throttle: (times: number): void => {
      throttled = times;
    },
  };
};
