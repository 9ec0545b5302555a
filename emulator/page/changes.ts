import { randomBytes } from "node:crypto";
import { matchSibling, routes } from "../http/api.js";
import type { CallCounts, EntriesSince, ShownCall } from "../http/call-log.js";
import type { BucketLevel, PlanName } from "../http/rate-limit.js";
import type { DeliveryEntry } from "../runtime/deliveries.js";
import type { FaultRule } from "../service/faults.js";
import type { EmulatedService } from "../service/service.js";
import type { Switches } from "../service/switches.js";
import { type AccountGraph, accountGraph } from "./account-graph.js";
import {
  type ChangedConversations,
  type ConversationAddress,
  type ConversationGrowth,
  changedConversations,
  conversationAddresses,
  growthOf,
} from "./shown-conversations.js";

/** What changed in an emulator since the last look; what did not change is left out where it is large. */
export interface PageChanges {
  /** To be given with the next look. */
  readonly cursor: string;
  /** The emulator's time, in milliseconds since 1970. */
  readonly now: number;
  readonly clock: "real" | "manual";
  readonly plan: PlanName;
  /** Of every endpoint; empty where the plan has no limits. */
  readonly buckets: readonly BucketLevel[];
  readonly counts: Readonly<Record<string, CallCounts>>;
  readonly faults: readonly FaultRule[];
  readonly switches: Switches;
  readonly calls: EntriesSince<ShownCall>;
  readonly deliveries: EntriesSince<DeliveryEntry>;
  readonly conversations: ChangedConversations;
  readonly graph?: AccountGraph;
  readonly addresses?: readonly ConversationAddress[];
  /** Of the conversation that was asked for; left out where there is none. */
  readonly conversation?: ConversationGrowth;
}

/** What the page shows and knows already. */
export interface PageLook {
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

/** The versions that a cursor stands for: none where it is of another process, or no cursor. */
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

/** Tells what changed between two looks of a page. */
export const changesSince = (service: EmulatedService) => {
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
