import { randomBytes } from "node:crypto";
import type { Definition } from "../../provider/definition/define.js";
import { namingOf } from "../../provider/definition/kinds.js";
import { asText, objectsIn, textAt } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { resources } from "../../provider/resources/index.js";
import { senderKinds } from "../../provider/resources/message-types.js";
import {
  type ConversationDocument,
  messageJson,
  type StoredMessage,
} from "../conversations/conversation-store.js";
import { isCompleted } from "../conversations/conversations.js";
import { messageTypesOf } from "../conversations/messages.js";
import { channelTypeOf, isAccountInUse } from "../conversations/recipients.js";
import { type ControlRoutes, jsonResponse } from "../http/exchange.js";
import { routes } from "../hub/routes.js";
import type { EmulatedService } from "../hub/service.js";
import { findReferences, type StoredObject } from "../objects/objects.js";
import { shownMembers } from "../objects/secrets.js";
import { vendorWord } from "../objects/validate.js";
import { scopesByLabel } from "../service/access.js";
import type { RecentEntries } from "../service/calls.js";
import { type Switch, switchTable } from "../service/switches.js";
import { inspectedCall } from "./inspected-call.js";

/** The last ones of each, objects of each kind: as many as can be resent after each change. */
const most = { objects: 1_000, conversations: 1_000, messages: 500, entries: 1_000 } as const;

/** A setup object as the page lists it. */
const showObject = (definition: Definition, object: StoredObject) => ({
  collection: definition.collection,
  id: object.id,
  /** Its natural key; empty if it has none. */
  name: asText(object[namingOf(definition).wire]),
  isActive: object.active !== false,
  /** `path` is the place of a reference in the object, such as `roles[0].authentication.id`. */
  references: findReferences(definition, object).map(({ to, id, path }) => ({
    collection: to.collection,
    id,
    path,
  })),
});

/** Every setup object with its references, in setup order, and where conversations can start. */
const showAccount = (service: EmulatedService) => {
  const { store } = service;
  const all = (each: Definition) => store.all(each.collection).slice(0, most.objects);
  return {
    objects: resources.flatMap((each) => all(each).map((object) => showObject(each, object))),
    total: resources.reduce((sum, { collection }) => sum + store.all(collection).length, 0),
    addresses: all(account)
      .filter((object) => isAccountInUse(service, object))
      .map((object) => ({
        name: textAt(object, "name") ?? "",
        address: textAt(object, "address") ?? "",
        channelType: channelTypeOf(service, object) ?? "",
      })),
  };
};

/** The members of an object, its secrets as asterisks; null if there is none. @param key such as `channels/<id>` */
const membersOf = ({ store }: EmulatedService, key: string) => {
  const [collection, ...rest] = key.split("/");
  const definition = resources.find((each) => each.collection === collection);
  const object = definition && store.get(definition.collection, rest.join("/"));
  return object ? shownMembers(definition.fields, object) : null;
};

/** A conversation in the page's list. */
const summarize = ({ id, phase, accountId, about, messages, modified }: ConversationDocument) => ({
  id,
  phase,
  /** The object that it runs over. */
  subject: `${account.collection}/${accountId}`,
  customer: textAt(about, "customer", "name") ?? "",
  address: textAt(about, "account", "address") ?? "",
  channelType: textAt(about, "account", "channel", "type") ?? "",
  messages: messages.length,
  modified,
});

/** The last changed conversations, the last one last. */
const listConversations = (service: EmulatedService) =>
  service.conversations
    .all()
    .toSorted((a, b) => Date.parse(a.modified) - Date.parse(b.modified))
    .slice(-most.conversations)
    .map(summarize);

/** The time that never comes: the page may stay open for as long as an asset exists. */
const never = 8.64e15;

const downloadsOf = ({ assets, signedUrls }: EmulatedService, messages: readonly StoredMessage[]) =>
  Object.fromEntries(
    messages
      .flatMap(({ body }) => objectsIn(body.attachments, "attachment"))
      .flatMap(({ id }) => assets.get(asText(id)) ?? [])
      .map(({ id }) => [id, signedUrls.path("GET", id, never)]),
  );

/** The last messages of a conversation; null if there is none. */
const showMessages = (service: EmulatedService, id: string) => {
  if (!service.conversations.get(id)) return null;
  const messages = service.conversations.messagesOf(id).slice(-most.messages);
  const downloads = downloadsOf(service, messages);
  return { id, messages: messages.map((each) => messageJson(each)), downloads };
};

/** The last entries of a log, and the place of the first of them. */
const lastOf = <T>(log: RecentEntries<T>) => {
  const entries = log.all().slice(-most.entries);
  return { first: log.next - entries.length, entries };
};

/** The bucket and the counts of each endpoint. */
const showRates = ({ log, rateLimiter }: EmulatedService) => {
  const counts = log.counts();
  return routes.map(({ name }) => ({
    ...{ endpoint: name, accepted: 0, refused: 0, ...counts[name] },
    bucket: rateLimiter.level(name),
  }));
};

const switchDescriptions: Readonly<Record<string, Switch>> = switchTable;

/**
 * What the page's forms offer, with a description of each choice: from the tables that the emulator
 * itself uses.
 */
const formTables = ({ switches }: EmulatedService) => ({
  /** In setup order. */
  kinds: resources.map(({ collection, noun }) => ({ collection, noun })),
  switches: switchDescriptions,
  /** The senders in the wire format, each with the message types that it may send. */
  senders: senderKinds.map((sender) => ({
    type: vendorWord(sender, switches),
    messageTypes: messageTypesOf(sender),
  })),
});

/** What the page shows; an empty text: nothing. */
const nothingShown = {
  /** From the previous look: parts that have not changed since are absent. */
  cursor: "",
  /** The ID of a conversation. */
  conversation: "",
  /** An object, such as `channels/<id>`. */
  object: "",
  /** The place of a call in the log. */
  call: "",
};

/** The large parts, absent from a look while nothing changes. */
const showParts = (
  service: EmulatedService,
  { conversation, object, call }: typeof nothingShown,
) => ({
  tables: formTables(service),
  account: showAccount(service),
  object: membersOf(service, object),
  conversations: listConversations(service),
  transcript: showMessages(service, conversation),
  calls: lastOf(service.log.entries),
  deliveries: lastOf(service.deliveries.log),
  call: (call && inspectedCall(service.log, Number(call))) || null,
});

const lookInto = (service: EmulatedService) => {
  // Versions start over with every process; a page that stays open must not confuse them.
  const start = randomBytes(6).toString("hex");
  return (asked: typeof nothingShown) => {
    const { clock, rateLimiter, log, deliveries, switches, store, conversations } = service;
    const { cursor: _, ...question } = asked;
    const cursor = JSON.stringify([
      ...[start, store.version, conversations.version, log.entries.next, deliveries.log.next],
      ...[switches.platformName, question],
    ]);
    const shown = conversations.get(asked.conversation);
    return {
      ...(asked.cursor === cursor ? {} : showParts(service, asked)),
      /** To be sent with the next look. */
      cursor,
      /** The emulator's time, in milliseconds since 1970. */
      now: clock.now(),
      clock: clock.kind,
      plan: rateLimiter.plan,
      rates: showRates(service),
      faults: service.faults.left(),
      switches,
      total: conversations.count,
      /** Whether the conversation takes no more messages; the clock, too, completes one. */
      isCompleted: shown !== undefined && isCompleted(service, shown),
    };
  };
};

export type ShownObject = ReturnType<typeof showObject>;
/** What a page sees; the parts are absent if nothing changed since its last look. */
export type PageLook = ReturnType<ReturnType<typeof lookInto>>;
export type PageParts = ReturnType<typeof showParts>;

/** The caller of the page's calls, in the log. */
const pageClient = "page";
const tokenLifetimeMs = 3_600_000;

/**
 * The control interface routes that only the page uses. The page makes changes through ordinary
 * control calls, and sends messages through the service's own call, with a token from one of these
 * routes.
 */
export const pageRoutes = (service: EmulatedService): ControlRoutes => {
  const look = lookInto(service);
  return {
    "GET /page/changes": ({ query }) => {
      const asked = { ...nothingShown, ...Object.fromEntries(query) };
      if (!/^\d{0,15}$/.test(asked.call)) throw new Error('"call" must be a whole number.');
      return jsonResponse(look(asked));
    },
    "POST /page/token": () => {
      const allowed = { scopes: [scopesByLabel.IM], subject: "client" } as const;
      const token = service.tokens.issue({ clientId: pageClient, ...allowed }, tokenLifetimeMs);
      return { status: 201, body: { token } };
    },
  };
};
