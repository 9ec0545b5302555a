import { z } from "zod";
import type { CallCounts, LogEntry } from "../http/call-log.js";
import type { BucketLevel } from "../http/rate-limit.js";
import { isStoredObject, type StoredObject } from "../objects/store.js";
import { type AssetDocument, isAssetDocument } from "../runtime/assets/asset-store.js";
import type { DeliveryEntry } from "../runtime/callbacks/deliveries.js";
import type { NotificationMail } from "../runtime/callbacks/mailbox.js";
import {
  type ConversationDocument,
  isConversationDocument,
} from "../runtime/conversation-store.js";
import type { Client } from "../token/clients.js";
import { type FaultKind, type FaultRule, faultKinds } from "./faults.js";
import { isSwitches, type Switches } from "./switches.js";

/** How often each endpoint was called, and how many tokens were given out. */
export interface EmulatorStats {
  /** By endpoint, such as `GET /channels/{id}`. */
  readonly calls: Readonly<Record<string, CallCounts>>;
  readonly tokensIssued: number;
}

/** Everything that an emulator keeps, secrets in clear. */
export interface EmulatorSnapshot {
  readonly version: number;
  /** The set-up objects of each collection, such as `channels`, as they were given. */
  readonly objects: Readonly<Record<string, readonly StoredObject[]>>;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
  readonly clients: readonly Client[];
  readonly switches: Partial<Switches>;
}

const counts: z.ZodType<CallCounts> = z.object({ accepted: z.number(), refused: z.number() });

const logEntry: z.ZodType<LogEntry> = z.object({
  at: z.string(),
  method: z.string(),
  template: z.string(),
  path: z.string(),
  status: z.number(),
  ms: z.number(),
  clientId: z.string().exactOptional(),
});

const delivery: z.ZodType<DeliveryEntry> = z.object({
  at: z.string(),
  url: z.string(),
  messageId: z.string(),
  type: z.string(),
  attempt: z.number(),
  status: z.number().exactOptional(),
  error: z.string().exactOptional(),
});

const mail: z.ZodType<NotificationMail> = z.object({
  at: z.string(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  messageId: z.string(),
});

const fault: z.ZodType<FaultRule> = z.object({
  on: z.string(),
  kind: z.custom<FaultKind>((kind) => typeof kind === "string" && Object.hasOwn(faultKinds, kind)),
  times: z.number(),
  after: z.number(),
  status: z.number().exactOptional(),
  body: z.unknown().exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  ms: z.number().exactOptional(),
  location: z.string().exactOptional(),
});

const client: z.ZodType<Client> = z.object({
  clientId: z.string(),
  clientSecret: z.string().exactOptional(),
  public: z.literal(true).exactOptional(),
  redirectUris: z.array(z.string()).exactOptional(),
  scopes: z.array(z.string()),
});

const bucket: z.ZodType<BucketLevel> = z.object({
  endpoint: z.string(),
  rate: z.number(),
  burst: z.number(),
  tokens: z.number(),
});

const snapshot: z.ZodType<EmulatorSnapshot> = z.object({
  version: z.number(),
  objects: z.record(z.string(), z.array(z.custom<StoredObject>(isStoredObject))),
  conversations: z.array(z.custom<ConversationDocument>(isConversationDocument)),
  assets: z.array(z.custom<AssetDocument>(isAssetDocument)),
  clients: z.array(client),
  switches: z.custom<Partial<Switches>>((value) => typeof value === "object" && value !== null),
});

/** What the control calls answer. */
export const controlAnswers = {
  nothing: z.unknown(),
  clock: z.object({ now: z.number() }),
  stats: z.object({ calls: z.record(z.string(), counts), tokensIssued: z.number() }),
  log: z.array(logEntry),
  deliveries: z.array(delivery),
  deliveriesSince: z.object({
    first: z.number(),
    next: z.number(),
    entries: z.array(delivery),
  }),
  mailbox: z.array(mail),
  faults: z.array(fault),
  buckets: z.array(bucket),
  conversations: z.array(z.custom<ConversationDocument>(isConversationDocument)),
  snapshot,
  switches: z.custom<Switches>(isSwitches),
};
