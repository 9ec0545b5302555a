import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Basis, Definition } from "../../provider/definition/define.js";
import { namingOf } from "../../provider/definition/fields.js";
import { asText, type JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { resources } from "../../provider/resources/index.js";
import { matchSibling, routes } from "../http/api.js";
import type { CallCounts, EntriesSince, ShownCall } from "../http/call-log.js";
import type { BucketLevel, PlanName } from "../http/rate-limit.js";
import { hideSecrets } from "../objects/forms.js";
import { type StoredObject, storedReferences } from "../objects/store.js";
import { isCompleted } from "../runtime/conversation-operations.js";
import {
  type ConversationPhase,
  messageJson,
  type StoredConversation,
} from "../runtime/conversation-store.js";
import type { DeliveryEntry } from "../runtime/deliveries.js";
import { messageTypesOf, senderTypes, textOnPath } from "../runtime/messages.js";
import { channelTypeOf, isAccountInUse, type SetUp } from "../runtime/recipients.js";
import { type FaultRule, faultKinds } from "../service/faults.js";
import type { EmulatedService } from "../service/service.js";
import { type Switch, type Switches, switchTable, vendorWord } from "../service/switches.js";
import { scopesByLabel } from "../token/tokens.js";

/** A reference from one object to another, as the page draws it. */
interface GraphReference {
  readonly collection: string;
  readonly id: string;
  /** Where the object holds it, such as `roles[0].authentication.id`. */
  readonly path: string;
}

/** A set-up object as the page shows it. */
export interface GraphObject {
  readonly collection: string;
  readonly id: string;
  /** What people know it by; empty if it has none. */
  readonly name: string;
  readonly isActive: boolean;
  readonly references: readonly GraphReference[];
}

/** The set-up objects, as many as the page shows. */
export interface AccountGraph {
  readonly objects: readonly GraphObject[];
  /** How many objects there are in all. */
  readonly total: number;
}

/** A page with more is of no use to a person, and slow to send again after each change. */
const mostObjects = 5_000;

const nameOf = (definition: Definition, object: StoredObject): string =>
  asText(object[namingOf(definition).wire]);

const graphObject = (definition: Definition, object: StoredObject): GraphObject => ({
  collection: definition.collection,
  id: object.id,
  name: nameOf(definition, object),
  isActive: object.active !== false,
  references: storedReferences(definition, object).map(({ to, id, path }) => ({
    collection: to.collection,
    id,
    path,
  })),
});

/** Every set-up object with its references, in set-up order, each kind in the order of creation. */
const accountGraph = ({ store }: Pick<EmulatedService, "store">): AccountGraph => {
  const all = resources.map((definition) => ({
    definition,
    list: store.all(definition.collection),
  }));
  const total = all.reduce((sum, { list }) => sum + list.length, 0);
  // The same share of each kind, so that none is missing if there are too many.
  const share = total > mostObjects ? mostObjects / total : 1;
  const objects = all.flatMap(({ definition, list }) =>
    list.slice(0, Math.ceil(list.length * share)).map((object) => graphObject(definition, object)),
  );
  return { objects, total };
};

/** One object whole, its secrets as asterisks; undefined if there is none. */
const shownObject = (
  { store }: Pick<EmulatedService, "store">,
  collection: string,
  id: string,
): JsonObject | undefined => {
  const definition = resources.find((each) => each.collection === collection);
  const object = definition && store.get(collection, id);
  return object && hideSecrets(definition.fields, object, "mask");
};

/** A conversation in the page's list. */
export interface ConversationSummary {
  readonly id: string;
  readonly phase: ConversationPhase;
  readonly customer: string;
  readonly address: string;
  readonly channelType: string;
  readonly messages: number;
  /** When its last message came. */
  readonly modified: string;
}

/** The conversations that changed. */
interface ChangedConversations {
  /** Whether these are all there are, and take the place of those known before. */
  readonly isWhole: boolean;
  /** How many there are in all. */
  readonly total: number;
  readonly entries: readonly ConversationSummary[];
}

/** What is new in the conversation that the page shows. */
interface ConversationGrowth {
  readonly id: string;
  readonly isCompleted: boolean;
  /** Place of the first message here within the conversation, from 0: later than asked for if too many came since. */
  readonly from: number;
  /** As the service gives them back. */
  readonly messages: readonly JsonObject[];
}

/** Where a customer can start a conversation. */
export interface ConversationAddress {
  readonly name: string;
  readonly address: string;
  readonly channelType: string;
}

/** As many as a person may want to look through. */
const mostConversations = 2_000;
const mostMessages = 2_000;
const mostAddresses = 1_000;

const summary = (
  { conversations }: Pick<EmulatedService, "conversations">,
  { id, phase, about, modified }: StoredConversation,
): ConversationSummary => ({
  id,
  phase,
  customer: textOnPath(about, "customer", "name") ?? "",
  address: textOnPath(about, "account", "address") ?? "",
  channelType: textOnPath(about, "account", "channel", "type") ?? "",
  messages: conversations.lengthOf(id),
  modified,
});

/** The conversations that changed after a version, the last 2,000. */
const changedConversations = (
  service: Pick<EmulatedService, "conversations">,
  version: number,
): ChangedConversations => {
  const { isWhole, entries } = service.conversations.since(version, mostConversations);
  return {
    isWhole,
    total: service.conversations.count,
    entries: entries.map((each) => summary(service, each)),
  };
};

/** The messages of a conversation from a place on, the last 2,000; undefined if there is no such conversation. */
const growthOf = (
  service: EmulatedService,
  id: string,
  from: number,
): ConversationGrowth | undefined => {
  const conversation = service.conversations.get(id);
  if (!conversation) return undefined;
  const first = Math.max(from, service.conversations.lengthOf(id) - mostMessages);
  return {
    id,
    isCompleted: isCompleted(service, conversation),
    from: first,
    messages: service.conversations.messagesOf(id, first).map((each) => messageJson(each)),
  };
};

/** The addresses of the accounts in use. */
const conversationAddresses = (setUp: SetUp): readonly ConversationAddress[] =>
  setUp.store
    .all(account.collection)
    .filter((object) => isAccountInUse(setUp, object))
    .slice(0, mostAddresses)
    .map((object) => ({
      name: textOnPath(object, "name") ?? "",
      address: textOnPath(object, "address") ?? "",
      channelType: channelTypeOf(setUp, object) ?? "",
    }));

/** What changed in an emulator since the last look; what did not change is left out if it is large. */
export interface PageChanges {
  /** To be given with the next look. */
  readonly cursor: string;
  /** The emulator's time, in milliseconds since 1970. */
  readonly now: number;
  readonly clock: "real" | "manual";
  readonly plan: PlanName;
  /** Of every endpoint; empty if the plan has no limits. */
  readonly buckets: readonly BucketLevel[];
  readonly counts: Readonly<Record<string, CallCounts>>;
  readonly faults: readonly FaultRule[];
  readonly switches: Switches;
  readonly calls: EntriesSince<ShownCall>;
  readonly deliveries: EntriesSince<DeliveryEntry>;
  readonly conversations: ChangedConversations;
  readonly graph?: AccountGraph;
  readonly addresses?: readonly ConversationAddress[];
  /** Of the conversation that was asked for; left out if there is none. */
  readonly conversation?: ConversationGrowth;
}

/** What the page shows and knows already. */
interface PageLook {
  readonly cursor: string;
  /** Id of the conversation that is shown; empty: none. */
  readonly conversation: string;
  /** How many of its messages are known. */
  readonly messages: number;
}

/** How far each part was known at a look. */
const partNames = ["calls", "deliveries", "conversations", "objects"] as const;
type Versions = Readonly<Record<(typeof partNames)[number], number>>;

const nothingKnown: Versions = { calls: 0, deliveries: 0, conversations: -1, objects: -1 };

/** The versions that a cursor stands for: none if it is of another process, or no cursor. */
const versionsIn = (cursor: string, run: string): Versions => {
  const [name, ...numbers] = cursor.split("-");
  if (name !== run || numbers.length !== partNames.length) return nothingKnown;
  const [calls = -1, deliveries = -1, conversations = -1, objects = -1] = numbers.map(Number);
  return { calls, deliveries, conversations, objects };
};

/** The bucket of an endpoint of another service, by its name in the counts. */
const siblingLevel = ({ rateLimiter }: EmulatedService, name: string): BucketLevel | undefined => {
  const [method = "", path = ""] = name.split(" ");
  const route = matchSibling(path.replaceAll(/\{\w+\}/g, "0"))?.methods.get(method);
  return route?.rates && rateLimiter.level(name, route.rates);
};

/** The buckets of the service, and those of other services that were called. */
const levelsOf = (service: EmulatedService, called: readonly string[]): readonly BucketLevel[] => {
  const own = routes.map(({ name }) => name);
  const others = called.filter((name) => !own.includes(name));
  return [
    ...own.map((name) => service.rateLimiter.level(name)),
    ...others.map((name) => siblingLevel(service, name)),
  ].flatMap((level) => level ?? []);
};

/** Finds what changed between two looks of a page. */
const changesSince = (service: EmulatedService) => {
  // Versions begin anew with every process; a page that stays open must not take them for the old.
  const run = randomBytes(6).toString("hex");
  return ({ cursor, conversation, messages }: PageLook): PageChanges => {
    const known = versionsIn(cursor, run);
    const { clock, rateLimiter, log, faults, switches, store } = service;
    const counts = log.counts();
    const calls = log.entries.since(known.calls);
    const deliveries = service.deliveries.log.since(known.deliveries);
    const versions: Versions = {
      calls: calls.next,
      deliveries: deliveries.next,
      conversations: service.conversations.version,
      objects: store.version,
    };
    const growth = growthOf(service, conversation, messages);
    return {
      cursor: [run, ...partNames.map((name) => versions[name])].join("-"),
      now: clock.now(),
      clock: clock.kind,
      plan: rateLimiter.plan,
      buckets: levelsOf(service, Object.keys(counts)),
      counts,
      faults: faults.left(),
      switches,
      calls,
      deliveries,
      conversations: changedConversations(service, known.conversations),
      ...(versions.objects === known.objects
        ? {}
        : { graph: accountGraph(service), addresses: conversationAddresses(service) }),
      ...(growth ? { conversation: growth } : {}),
    };
  };
};

/** What the page's forms offer, with what is said of each choice: from the tables that the emulator obeys. */
export interface FormTables {
  /** In set-up order. */
  readonly kinds: readonly {
    readonly collection: string;
    readonly noun: string;
    readonly doc: string;
  }[];
  readonly endpoints: readonly string[];
  readonly faults: readonly {
    readonly kind: string;
    readonly doc: string;
    readonly isForLists: boolean;
    readonly members: readonly {
      readonly name: string;
      readonly rule: string;
      readonly isRequired: boolean;
    }[];
  }[];
  readonly switches: readonly {
    readonly name: string;
    readonly doc: string;
    readonly values: Switch["values"];
    readonly default: Switch["default"];
    readonly basis: Basis;
  }[];
  /** The words on the wire of who may send, each with the message types that it may send. */
  readonly senders: readonly { readonly type: string; readonly messageTypes: readonly string[] }[];
}

const faultTable = (): FormTables["faults"] =>
  Object.entries(faultKinds).map(([kind, shape]) => ({
    kind,
    doc: shape.doc,
    isForLists: "listsOnly" in shape,
    members: Object.entries(shape.members).map(([name, member]) => ({
      name,
      rule: member.rule,
      isRequired: "required" in member,
    })),
  }));

/** @param endpoints where faults can be */
const formTables = (
  { switches }: Pick<EmulatedService, "switches">,
  endpoints: readonly string[],
): FormTables => ({
  kinds: resources.map(({ collection, noun, doc }) => ({ collection, noun, doc })),
  endpoints,
  faults: faultTable(),
  switches: Object.entries(switchTable).map(([name, { doc, values, default: usual, basis }]) => ({
    name,
    doc,
    values,
    default: usual,
    basis,
  })),
  senders: senderTypes.map((sender) => ({
    type: vendorWord(sender, switches),
    messageTypes: messageTypesOf(sender),
  })),
});

/** Who the page's calls are from, in the log. */
const pageClient = "page";
const tokenLifetimeMs = 3_600_000;

const countIn = (text = "0"): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error("messages must be a whole number.");
};

/**
 * What the page reads, below the control interface. What it changes it changes by control itself, and
 * messages it sends by the service's own call, for which it gets a token here.
 *
 * @param endpoints where faults can be
 */
export const pageRoutes = (service: EmulatedService, endpoints: readonly string[]): Hono => {
  const app = new Hono();
  const look = changesSince(service);
  app.get("/tables", (context) => context.json(formTables(service, endpoints)));
  app.get("/changes", (context) => {
    const { cursor = "", conversation = "", messages } = context.req.query();
    return context.json(look({ cursor, conversation, messages: countIn(messages) }));
  });
  app.get("/objects/:collection/:id", (context: Context) => {
    const { collection = "", id = "" } = context.req.param();
    const object = shownObject(service, collection, id);
    return object
      ? context.json(object)
      : context.json({ error: "There is no such object any more." }, 404);
  });
  app.post("/token", (context) => {
    const claims = { clientId: pageClient, scopes: [scopesByLabel.IM], subject: "client" } as const;
    return context.json({ token: service.tokens.issue(claims, tokenLifetimeMs) }, 201);
  });
  return app;
};
