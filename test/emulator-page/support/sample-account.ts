import type { JsonObject as Json } from "../../../provider/kernel/json.js";
import { contentTypeOf } from "../../../provider/resources/content-types.js";
import type { Reply, Running } from "../../emulator/running.js";
import { message } from "../../emulator-runtime/hub.js";
import { roleOf } from "../../support/forms.js";

export interface SampleSize {
  readonly applications: number;
  readonly participants: number;
  readonly channels: number;
  readonly orchestrations: number;
  readonly accounts: number;
  readonly conversations: number;
  /** Of each conversation. */
  readonly messages: number;
}

/** A handful of everything. */
export const smallAccount: SampleSize = {
  applications: 4,
  participants: 2,
  channels: 2,
  orchestrations: 2,
  accounts: 3,
  conversations: 3,
  messages: 6,
};

/** 1,000 objects and 500 conversations. */
export const hugeAccount: SampleSize = {
  applications: 300,
  participants: 250,
  channels: 100,
  orchestrations: 149,
  accounts: 200,
  conversations: 500,
  messages: 40,
};

const time = "2026-11-22T09:00:00.000Z";
const idOf = (kind: number, place: number): string =>
  `${kind}0000000-0000-4000-8000-${String(place).padStart(12, "0")}`;
const times = <T>(count: number, make: (place: number) => T): T[] =>
  Array.from({ length: count }, (_, place) => make(place));

const words = ["orders", "returns", "billing", "support", "kiosk", "loyalty", "pickup", "stores"];
const word = (place: number): string => {
  const round = Math.floor(place / words.length);
  return `${words[place % words.length]}${round === 0 ? "" : `-${round + 1}`}`;
};

interface SampleOptions {
  /** The callback of every role. */
  readonly callback?: string;
  /** What every name is made to be; the place keeps names apart. */
  readonly nameOf?: (name: string) => string;
}

const roleNames = ["custom_bot", "customer", "platform_agent"] as const;

const flowOf = (place: number, size: SampleSize): Json => {
  const application = (role: number): string =>
    idOf(2, (Math.floor((place * 3) / 3) * 3 + role) % Math.max(1, size.applications));
  // Each bot answers in two flows, where there is more than one.
  const bots = new Set([place, place + 1].map((bot) => bot % Math.max(1, size.participants)));
  return {
    botConfiguration: {
      bots: [...bots].map((bot) => ({
        id: application(0),
        participant: { id: idOf(3, bot) },
        onEscalation: { agent: { id: application(2) } },
      })),
    },
    customerConfiguration: { customer: { id: application(1) } },
  };
};

const objectsOf = (size: SampleSize, options: SampleOptions): Json => {
  const { nameOf = (name: string) => name, callback = "https://bot.example.com/hub" } = options;
  const authentication = { id: idOf(1, 0) };
  const common = (kind: number, place: number, name: string) => ({
    id: idOf(kind, place),
    created: time,
    modified: time,
    name: nameOf(name),
  });
  return {
    authentications: [
      {
        ...common(1, 0, "callbacks"),
        type: "basic",
        basicAuth: { username: "hub", password: "hunter2-hidden" },
      },
    ],
    clientapplications: times(size.applications, (place) => ({
      ...common(2, place, `${word(place)}-app`),
      roles: [roleOf(roleNames[place % roleNames.length] ?? "", { callback, authentication })],
    })),
    participants: times(size.participants, (place) => ({
      ...common(3, place, `${word(place)}-bot`),
      type: "custom_bot",
      application: { id: idOf(2, (place * 3) % size.applications) },
    })),
    channels: times(size.channels, (place) => ({
      id: idOf(4, place),
      created: time,
      modified: time,
      type: nameOf(`custom.${word(place)}`),
      displayName: `Channel ${place}`,
      icon: "aVZCT1J3MEtHZ28=",
    })),
    orchestrations: times(size.orchestrations, (place) => ({
      ...common(5, place, `${word(place)}-flow`),
      applications: flowOf(place, size),
    })),
    accounts: times(size.accounts, (place) => ({
      ...common(6, place, `${word(place)}-account`),
      ...(place % 7 === 2 ? { active: false } : {}),
      address: `${word(place)}-address`,
      channel: { id: idOf(4, place % size.channels) },
      chatConfigurations: {
        orchestration: { id: idOf(5, place % size.orchestrations) },
        entryPoint: { id: "1007" },
      },
    })),
  };
};

const senders = ["customer", "custom_bot", "platform_agent"] as const;
const texts = [
  "Where is my order?",
  "Which order is it?",
  "The running shoes, ordered last Tuesday. The tracking page says nothing since then.",
  "One moment, I look it up for you.",
  "It is with the carrier and will be with you tomorrow by noon.",
];

const messageOf = (conversation: string, place: number, nameOf: (name: string) => string): Json => {
  const sender = senders[place % 3 === 0 ? 0 : place < 6 ? 1 : 2] ?? "customer";
  return {
    id: `${conversation}-m${place}`,
    messageId: `${conversation}-m${place}`,
    conversationId: conversation,
    type: "text",
    body: {
      type: { value: "text" },
      content: { text: nameOf(texts[place % texts.length] ?? "") },
      sender: {
        type: sender,
        participant: { name: nameOf(sender === "customer" ? "Ada Example" : "Sam") },
      },
    },
    recipients: [{ type: sender === "customer" ? "custom_bot" : "customer" }],
    created: new Date(Date.parse(time) + place * 20_000).toISOString(),
  };
};

const conversationsOf = (size: SampleSize, { nameOf = (name: string) => name }: SampleOptions) =>
  times(size.conversations, (place) => {
    const id = idOf(7, place);
    const account = word(place % size.accounts);
    return {
      id,
      phase: (["bot", "agent", "ended"] as const)[place % 3],
      accountId: idOf(6, place % size.accounts),
      about: {
        account: {
          address: `${account}-address`,
          channel: { type: `custom.${word(place % size.channels)}` },
        },
        customer: { name: nameOf(`Ada Example ${place}`) },
      },
      created: time,
      modified: new Date(Date.parse(time) + place * 60_000).toISOString(),
      messages: times(size.messages, (at) => messageOf(id, at, nameOf)),
    };
  });

/** A whole account with its conversations, as `PUT /snapshot` takes it. */
export const sampleSnapshot = (size: SampleSize, options: SampleOptions = {}): Json => ({
  version: 1,
  objects: objectsOf(size, options),
  conversations: conversationsOf(size, options),
  assets: [],
});

/** Sends a message with an asset, and further attachments, to the second conversation of a sample. */
export const sendAsset = async (
  service: Running,
  name: string,
  content: string,
  further: readonly Json[] = [],
): Promise<{ readonly id: string; readonly reply: Reply }> => {
  await service.control("PUT", "/switches", { unknownReference: "accept" });
  const { json } = await service.call("POST", "/assets", {
    name,
    size: Buffer.byteLength(content),
    channel: { type: "custom.orders" },
    sender: { type: "customer" },
  });
  const type = contentTypeOf(name);
  const headers = { "content-type": type };
  await service.send("POST", String(json.contentUrl), { raw: content, headers });
  const carrying = message(idOf(7, 1), "customer", "text", {
    content: { text: "See the attachment" },
    attachments: { attachment: [{ id: json.id }, ...further] },
  });
  const reply = await service.call("POST", "/conversations/messages", {
    messages: { message: [carrying] },
  });
  return { id: String(json.id), reply };
};

/** A call's body with one text message to a conversation. */
export const messageTo = (id: string, sender = "custom_bot", text = "Hi") => ({
  messages: { message: [message(id, sender, "text", { content: { text } })] },
});
