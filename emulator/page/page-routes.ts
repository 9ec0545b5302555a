import { randomBytes } from "node:crypto";
import type { Definition } from "../../provider/definition/define.js";
import { namingOf } from "../../provider/definition/fields.js";
import { asText, objectsIn, textAt } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { resources } from "../../provider/resources/index.js";
import { senderKinds } from "../../provider/resources/message-types.js";
import { routes, siblingRoute } from "../http/api.js";
import { type ControlRoutes, jsonResponse } from "../http/exchange.js";
import type { BucketLevel } from "../http/rate-limit.js";
import { shownMembers } from "../objects/secrets.js";
import { type StoredObject, storedReferences } from "../objects/store.js";
import { isCompleted } from "../runtime/conversation-operations.js";
import {
  isWithin,
  messageJson,
  placeIn,
  type StoredConversation,
  type StoredMessage,
} from "../runtime/conversation-store.js";
import {
  type DeliveryCause,
  type DeliveryFailure,
  deliveryFailures,
} from "../runtime/delivery-failures.js";
import { messageTypesOf } from "../runtime/messages.js";
import { channelTypeOf, isAccountInUse } from "../runtime/recipients.js";
import type { EmulatedService } from "../service/service.js";
import { vendorWord } from "../service/switches.js";
import { scopesByLabel } from "../token/tokens.js";
import { inspectedCall } from "./inspected-call.js";

/** As many of each as a person looks through; more would be slow to resend after each change. */
const most = { objects: 5_000, conversations: 2_000, messages: 500, addresses: 1_000 } as const;

/** A setup object as the page draws it. */
const graphObject = (definition: Definition, object: StoredObject) => ({
  collection: definition.collection,
  id: object.id,
  /** Its natural key; empty if it has none. */
  name: asText(object[namingOf(definition).wire]),
  isActive: object.active !== false,
  /** `path` is the place of a reference in the object, such as `roles[0].authentication.id`. */
  references: storedReferences(definition, object).map(({ to, id, path }) => ({
    collection: to.collection,
    id,
    path,
  })),
});

/** Every setup object with its references, in setup order, each kind in the order of creation. */
const accountGraph = ({ store }: EmulatedService) => {
  const total = resources.reduce((sum, { collection }) => sum + store.count(collection), 0);
  // The same share of each kind, so that none is missing if there are too many.
  const share = Math.min(1, most.objects / total);
  const objects = resources.flatMap((definition) =>
    store
      .all(definition.collection)
      .slice(0, Math.ceil(store.count(definition.collection) * share))
      .map((object) => graphObject(definition, object)),
  );
  return { objects, total };
};

/** The members of an object, its secrets as asterisks; undefined if there is none. @param key such as `channels/<id>` */
const membersOf = ({ store }: EmulatedService, key: string) => {
  const [collection, ...rest] = key.split("/");
  const definition = resources.find((each) => each.collection === collection);
  const object = definition && store.get(definition.collection, rest.join("/"));
  return object && shownMembers(definition.fields, object);
};

/** A conversation in the page's list. */
const summaryOf = (
  { conversations }: EmulatedService,
  { id, phase, accountId, about, modified }: StoredConversation,
) => ({
  id,
  phase,
  /** The object that it runs over. */
  subject: `${account.collection}/${accountId}`,
  customer: textAt(about, "customer", "name") ?? "",
  address: textAt(about, "account", "address") ?? "",
  channelType: textAt(about, "account", "channel", "type") ?? "",
  messages: conversations.lengthOf(id),
  modified,
});

/** What identifies a conversation, beside its messages. */
const wordsOf = ({ id, customer, address, channelType }: ConversationSummary) =>
  [customer, address, channelType, id].join(" ");

/** Signs shown before and after a text that was found, at most. */
const around = { before: 20, after: 200 } as const;

/** The part of a text around what was found in it, on one line, without splitting a character. */
const excerptOf = (text: string, sought: string): string => {
  const place = placeIn(text, sought);
  const from = Math.max(0, place - around.before);
  const part = text.slice(from, place + sought.length + around.after);
  const whole = part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "").replace(/\s+/g, " ");
  return from > 0 ? `…${whole}` : whole;
};

/** The conversations with a text that changed since a version; undefined if no text is sought. */
const foundSince = (service: EmulatedService, sought: string, version: number) => {
  if (sought === "") return undefined;
  const { isWhole, entries } = service.conversations.find(
    sought,
    version,
    most.conversations,
    (each) => isWithin(wordsOf(summaryOf(service, each)), sought),
  );
  return {
    isWhole,
    entries: entries.map(({ conversation, text }) => ({
      ...summaryOf(service, conversation),
      ...(text === undefined ? {} : { excerpt: excerptOf(text, sought) }),
    })),
  };
};

/** The time that never comes: the page may stay open for as long as an asset exists. */
const never = 8.64e15;

/** The downloads of the assets in these messages, by their ids. */
const downloadsOf = ({ assets, signedUrls }: EmulatedService, messages: readonly StoredMessage[]) =>
  Object.fromEntries(
    messages
      .flatMap(({ body }) => objectsIn(body.attachments, "attachment"))
      .flatMap(({ id }) => assets.get(asText(id)) ?? [])
      .map(({ id }) => [id, signedUrls.path("GET", id, never)]),
  );

/** The new part of a conversation from a place on; undefined if there is no such conversation. */
const growthOf = (service: EmulatedService, id: string, from: number) => {
  const conversation = service.conversations.get(id);
  if (!conversation) return undefined;
  // Later than requested if too many have come since.
  const first = Math.max(from, service.conversations.lengthOf(id) - most.messages);
  const messages = service.conversations.messagesOf(id, first);
  return {
    id,
    isCompleted: isCompleted(service, conversation),
    from: first,
    messages: messages.map((each) => messageJson(each)),
    downloads: downloadsOf(service, messages),
  };
};

/** Where a customer can start a conversation: the addresses of the accounts in use. */
const conversationAddresses = (service: EmulatedService) =>
  service.store
    .all(account.collection)
    .filter((object) => isAccountInUse(service, object))
    .slice(0, most.addresses)
    .map((object) => ({
      name: textAt(object, "name") ?? "",
      address: textAt(object, "address") ?? "",
      channelType: channelTypeOf(service, object) ?? "",
    }));

/** The buckets of the service and those of other services that were called; none without a plan. */
const levelsOf = (service: EmulatedService, called: readonly string[]): readonly BucketLevel[] => {
  const own = routes.map(({ name }) => name);
  const others = called.filter((name) => !own.includes(name));
  return [
    ...own.map((name) => service.rateLimiter.level(name)),
    ...others.map((name) => {
      const rates = siblingRoute(name)?.rates;
      return rates && service.rateLimiter.level(name, rates);
    }),
  ].flatMap((level) => level ?? []);
};

/** What the page shows and already knows. */
interface PageLook {
  /** From the previous look; any other text means that nothing is known. */
  readonly cursor: string;
  /** ID of the conversation that is shown; empty: none. */
  readonly conversation: string;
  /** How many of its messages are known. */
  readonly messages: number;
  /** The object that is shown, such as `channels/<id>`; empty: none. */
  readonly object: string;
  /** Place in the log of the call that is asked for; -1: none. */
  readonly call: number;
  /** The text that conversations are searched for; empty: none. */
  readonly search: string;
}

/** Finds what changed between two looks of a page; what did not change is left out if it is large. */
const changesSince = (service: EmulatedService) => {
  // Versions start over with every process; a page that stays open must not confuse them with the
  // old ones.
  const run = randomBytes(6).toString("hex");
  return ({ cursor, conversation, messages, object, call, search }: PageLook) => {
    const { clock, rateLimiter, log, switches, store, conversations } = service;
    const [name, sought, ...versions] = cursor.split("-");
    const isKnown = name === run && versions.length === 4;
    const known = isKnown ? versions.map(Number) : [0, 0, -1, -1];
    const searched = Buffer.from(search).toString("hex");
    const calls = log.entries.since(known[0] ?? 0);
    const deliveries = service.deliveries.log.since(known[1] ?? 0);
    const changed = conversations.since(known[2] ?? -1, most.conversations);
    const counts = log.counts();
    return {
      /** To be sent with the next look. */
      cursor: [
        ...[run, searched, calls.next, deliveries.next],
        ...[conversations.version, store.version],
      ].join("-"),
      /** The emulator's time, in milliseconds since 1970. */
      now: clock.now(),
      clock: clock.kind,
      plan: rateLimiter.plan,
      buckets: levelsOf(service, Object.keys(counts)),
      counts,
      platformName: switches.platformName,
      calls,
      deliveries,
      conversations: {
        /** Whether these are all, and replace those known before. */
        isWhole: changed.isWhole,
        /** How many there are in all. */
        total: conversations.count,
        entries: changed.entries.map((each) => summaryOf(service, each)),
      },
      /** Left out if no text is sought. */
      found: foundSince(service, search, sought === searched ? (known[2] ?? -1) : -1),
      ...(store.version === known[3]
        ? {}
        : { graph: accountGraph(service), addresses: conversationAddresses(service) }),
      /** Left out if there is none. */
      conversation: growthOf(service, conversation, messages),
      object: membersOf(service, object),
      call: inspectedCall(log, call),
    };
  };
};

/** The page has none before its first response. */
const failures: Readonly<Partial<Record<DeliveryCause, DeliveryFailure>>> = deliveryFailures;

/**
 * What the page's forms offer, with a description of each choice: from the tables that the emulator
 * itself uses.
 */
const formTables = ({ switches }: EmulatedService) => ({
  /** In setup order. */
  kinds: resources.map(({ kind, collection, noun, doc }) => ({ kind, collection, noun, doc })),
  deliveryFailures: failures,
  /** The senders in the wire format, each with the message types that it may send. */
  senders: senderKinds.map((sender) => ({
    type: vendorWord(sender, switches),
    messageTypes: messageTypesOf(sender),
  })),
});

export type GraphObject = ReturnType<typeof graphObject>;
export type ConversationSummary = ReturnType<typeof summaryOf> & {
  /** The part of the conversation's last message that contains the search text, if any. */
  readonly excerpt?: string;
};
export type ConversationAddress = ReturnType<typeof conversationAddresses>[number];
/** The changes in an emulator since the last request. */
export type PageChanges = ReturnType<ReturnType<typeof changesSince>>;
export type FormTables = ReturnType<typeof formTables>;

/** The caller of the page's calls, in the log. */
const pageClient = "page";
const tokenLifetimeMs = 3_600_000;

const countIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error('"messages" and "call" must be whole numbers.');
};

/**
 * The control interface routes that only the page uses. The page makes changes through ordinary
 * control calls, and sends messages through the service's own call, with a token from one of these
 * routes.
 */
export const pageRoutes = (service: EmulatedService): ControlRoutes => {
  const look = changesSince(service);
  return {
    "GET /page/tables": () => jsonResponse(formTables(service)),
    "GET /page/changes": ({ query }) => {
      const {
        cursor = "",
        conversation = "",
        messages = "0",
        object = "",
        call = "",
        search = "",
      } = Object.fromEntries(query);
      const places = { messages: countIn(messages), call: call === "" ? -1 : countIn(call) };
      return jsonResponse(look({ cursor, conversation, object, search, ...places }));
    },
    "GET /page/client": () => {
      const { clientId, clientSecret = "", scopes } = service.clients.own;
      return jsonResponse({ clientId, clientSecret, scope: scopes.join(" ") });
    },
    "POST /page/token": () => {
      const claims = {
        clientId: pageClient,
        scopes: [scopesByLabel.IM],
        subject: "client",
      } as const;
      return { status: 201, body: { token: service.tokens.issue(claims, tokenLifetimeMs) } };
    },
  };
};
