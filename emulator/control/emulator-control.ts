import type { LogEntry } from "../http/call-log.js";
import type { BucketLevel } from "../http/rate-limit.js";
import type { DeliveryEntry } from "../runtime/callbacks/deliveries.js";
import type { NotificationMail } from "../runtime/callbacks/mailbox.js";
import type { ConversationDocument } from "../runtime/conversation-store.js";
import type { Client } from "../token/clients.js";
import type { EmulatorSnapshot, EmulatorStats } from "./control-answers.js";
import type { FaultRule } from "./faults.js";
import type { Switches } from "./switches.js";

/** What is to go wrong: once and at once, unless `times` and `after` say otherwise. */
export type FaultRequest = Pick<FaultRule, "on" | "kind"> & Partial<FaultRule>;

/**
 * Which delivery is waited for: one with all these members, accepted (2xx) unless `status` or `error`
 * says otherwise; or one that a function accepts.
 */
export type DeliveryMatch = Partial<DeliveryEntry> | ((entry: DeliveryEntry) => boolean);

/**
 * Controls a running emulator: looks at what happened, and makes things go wrong. Every call fails
 * with a `ControlError` where the emulator refuses it, and with the reason of the connection where
 * there is none.
 */
export interface EmulatorControl {
  /** Moves a manual clock on. Gives its new time, in milliseconds since 1970; fails on the real clock. */
  advance(ms: number): Promise<number>;
  /** How often each endpoint was called since the last reset. Does not fail by itself. */
  stats(): Promise<EmulatorStats>;
  /** The last 10,000 calls, without secrets, tokens and bodies. Does not fail by itself. */
  log(): Promise<readonly LogEntry[]>;
  /** The last 10,000 tries to deliver a message to a callback. Does not fail by itself. */
  deliveries(): Promise<readonly DeliveryEntry[]>;
  /**
   * Waits until a message was delivered; one since the last reset counts as well.
   *
   * @param match which one; left out: any that a callback accepted
   * @param options `timeoutMs` in real milliseconds, 5,000 where it is left out
   * @throws Error after that time, with the deliveries that were tried
   */
  waitForDelivery(
    match?: DeliveryMatch,
    options?: { readonly timeoutMs?: number },
  ): Promise<DeliveryEntry>;
  /** The last 1,000 mails to a `notificationEmail`: nothing leaves this machine. Does not fail by itself. */
  mailbox(): Promise<readonly NotificationMail[]>;
  /** Asks for faults, in the order given; without rules it changes nothing. Gives those still to come; fails for an unknown rule. */
  faults(rules?: FaultRequest | readonly FaultRequest[]): Promise<readonly FaultRule[]>;
  /** Forgets all faults. Does not fail by itself. */
  clearFaults(): Promise<void>;
  /** Forgets objects, conversations, assets, log, faults and buckets; clients and switches stay. Does not fail by itself. */
  reset(): Promise<void>;
  /** Everything that is kept, secrets in clear. Does not fail by itself. */
  snapshot(): Promise<EmulatorSnapshot>;
  /** Puts a snapshot in the place of everything. Fails, and changes nothing, where it is none. */
  restore(snapshot: EmulatorSnapshot): Promise<void>;
  /** Adds clients that may ask for tokens at once, or changes them. Fails where one is wrong. */
  clients(clients: Client | readonly Client[]): Promise<void>;
  /** Turns switches, or only tells how they stand. Fails for an unknown one, and then turns none. */
  switches(values?: Partial<Switches>): Promise<Switches>;
  /** How full the bucket of each endpoint is; empty without a plan. Does not fail by itself. */
  buckets(): Promise<readonly BucketLevel[]>;
  /** The conversations with their messages; with a time those that changed then or later. Does not fail by itself. */
  conversations(since?: Date): Promise<readonly ConversationDocument[]>;
}
