import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import type { ConversationDocument } from "../conversations/conversation-store.js";
import type { DeliveryEntry } from "../conversations/deliveries.js";
import type { BucketLevel } from "../service/access.js";
import type { CallCounts, LogEntry } from "../service/calls.js";
import type { FaultRule } from "../service/faults.js";
import { isSwitches, type Switches } from "../service/switches.js";
import type { Client } from "../tokens/clients.js";
import type { EmulatorSnapshot } from "./snapshot.js";

/**
 * The fault to set. It affects only the next call, unless `times` or `after` specifies otherwise.
 */
export type FaultRequest = Pick<FaultRule, "on" | "kind"> & Partial<FaultRule>;

/**
 * The delivery to wait for: either an accepted one (2xx, unless `status` or `error` specifies
 * otherwise) with all these members, or one for which a function returns true.
 */
export type DeliveryMatch = Partial<DeliveryEntry> | ((entry: DeliveryEntry) => boolean);

/**
 * Controls a running emulator: shows what happened and makes calls fail. Every call fails with a
 * `ControlError` if the emulator refuses it, and with the connection's error if the emulator does
 * not respond.
 */
export interface EmulatorControl {
  /**
   * Advances a manual clock. Returns its new time, in milliseconds since 1970. Fails if the
   * emulator uses the real clock.
   */
  advance(ms: number): Promise<number>;
  /** The number of calls to each endpoint since the last reset. */
  stats(): Promise<EmulatorStats>;
  /** The last 10,000 calls, without secrets, tokens, or bodies. */
  log(): Promise<readonly LogEntry[]>;
  /** The last 10,000 attempts to deliver a message to a callback. */
  deliveries(): Promise<readonly DeliveryEntry[]>;
  /**
   * Waits for a matching delivery. One that has already happened since the last reset also counts.
   *
   * @param match the delivery; if omitted, any delivery that a callback accepted
   * @param options `timeoutMs` in real milliseconds; default: 5,000
   * @throws Error that lists the attempted deliveries, after that time
   */
  waitForDelivery(
    match?: DeliveryMatch,
    options?: { readonly timeoutMs?: number },
  ): Promise<DeliveryEntry>;
  /**
   * Adds any given faults, in order, and returns all pending faults. Fails without adding any if
   * one is invalid.
   */
  faults(rules?: FaultRequest | readonly FaultRequest[]): Promise<readonly FaultRule[]>;
  /** Removes all faults. */
  clearFaults(): Promise<void>;
  /**
   * Removes objects, conversations, assets, logs, and faults, and fills the token buckets. Keeps
   * clients and switches.
   */
  reset(): Promise<void>;
  /** Everything that the emulator stores, with secrets in plain text. */
  snapshot(): Promise<EmulatorSnapshot>;
  /**
   * Replaces all stored data with a snapshot. Fails without changing anything if the value is not
   * a snapshot.
   */
  restore(snapshot: EmulatorSnapshot): Promise<void>;
  /**
   * Adds or replaces clients, which can request tokens immediately. Fails at the first invalid one.
   */
  clients(clients: Client | readonly Client[]): Promise<void>;
  /**
   * Sets the given switches, if any, and returns the values of all switches. Fails without setting
   * any switch if one is unknown or invalid.
   */
  switches(values?: Partial<Switches>): Promise<Switches>;
  /** The state of each endpoint's token bucket; empty if the plan is `none`. */
  buckets(): Promise<readonly BucketLevel[]>;
  /**
   * The conversations with their messages.
   */
  conversations(): Promise<readonly ConversationDocument[]>;
}

/** The number of calls to each endpoint, and the number of tokens issued. */
export interface EmulatorStats {
  /** Number of calls by endpoint, such as `GET /channels/{id}`. */
  readonly calls: Readonly<Record<string, CallCounts>>;
  readonly tokensIssued: number;
}

/** A list of what only an emulator of this version answers. */
const listOf = <T>() => z.array(z.custom<T>(isObject));

/** What the control calls answer. */
const controlAnswers = {
  nothing: z.unknown(),
  clock: z.object({ now: z.number() }),
  stats: z.custom<EmulatorStats>((value) => isObject(value) && isObject(value.calls)),
  log: listOf<LogEntry>(),
  deliveries: listOf<DeliveryEntry>(),
  faults: listOf<FaultRule>(),
  buckets: listOf<BucketLevel>(),
  conversations: listOf<ConversationDocument>(),
  snapshot: z.custom<EmulatorSnapshot>((value) => isObject(value) && isObject(value.objects)),
  switches: z.custom<Switches>(isSwitches),
};

/** The error for a refused control call, or for a response that did not come from an emulator. */
export class ControlError extends Error {
  override readonly name = "ControlError";

  constructor(
    message: string,
    /** HTTP status of the response. */
    readonly status: number,
  ) {
    super(message);
  }
}

interface ControlAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a control call, its path below the control address, with JSON as its body or none. */
type SendControl = (method: string, path: string, sent?: string) => Promise<ControlAnswer>;

type Call = <T>(answer: z.ZodType<T>, method: string, path: string, body?: unknown) => Promise<T>;

const reasonIn = (value: unknown): string =>
  isObject(value) && typeof value.error === "string" ? value.error : "no reason given";

const callWith =
  (send: SendControl): Call =>
  async (answer, method, path, body) => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const { status, text } = await send(method, path, sent);
    const value = jsonIn(text);
    const what = `Could not control the emulator: ${method} ${path}`;
    if (status >= 300)
      throw new ControlError(`${what} was refused (${status}): ${reasonIn(value)}`, status);
    const read = answer.safeParse(value);
    if (read.success) return read.data;
    throw new ControlError(
      `${what}: the response is not from an emulator. Check the control URL.`,
      status,
    );
  };

const isAccepted = ({ status = 0 }: DeliveryEntry): boolean => status >= 200 && status <= 299;

/**
 * Whether every member of the match equals that of the entry; without a status, the entry must be
 * accepted.
 */
const fits = (match: DeliveryMatch, entry: DeliveryEntry): boolean => {
  if (typeof match === "function") return match(entry);
  const wanted = Object.entries(match);
  const isOutcome = match.status !== undefined || match.error !== undefined;
  return (
    (isOutcome || isAccepted(entry)) &&
    wanted.every(([name, value]) =>
      Object.entries(entry).some(([n, v]) => n === name && v === value),
    )
  );
};

const seenText = (seen: readonly DeliveryEntry[]): string => {
  if (seen.length === 0) return "No deliveries were attempted.";
  const last = seen.slice(-5).map((entry) => {
    const outcome = entry.status ?? entry.error ?? "no response";
    return `${entry.type} ${entry.messageId} to ${entry.url || "no address"}: ${outcome}`;
  });
  return `It attempted (the last ${last.length} of ${seen.length}): ${last.join("; ")}.`;
};

const pollMs = 20;

const waitForDelivery = async (call: Call, match: DeliveryMatch, timeoutMs: number) => {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const seen = await call(controlAnswers.deliveries, "GET", "/deliveries");
    const found = seen.find((entry) => fits(match, entry));
    if (found) return found;
    if (performance.now() < until) {
      await sleep(pollMs);
      continue;
    }
    const what = typeof match === "function" ? "that matches" : `with ${JSON.stringify(match)}`;
    throw new Error(
      `The emulator made no delivery ${what} within ${timeoutMs} ms. ${seenText(seen)}`,
    );
  }
};

/** The control calls as functions, over any transport. */
export const controlThrough = (send: SendControl): EmulatorControl => {
  const call = callWith(send);
  const { nothing, clock, stats, log, deliveries, faults, buckets, conversations } = controlAnswers;
  const { snapshot, switches } = controlAnswers;
  return {
    advance: async (ms) => (await call(clock, "POST", "/clock", { advanceMs: ms })).now,
    stats: () => call(stats, "GET", "/stats"),
    log: () => call(log, "GET", "/log"),
    deliveries: () => call(deliveries, "GET", "/deliveries"),
    waitForDelivery: (match = {}, { timeoutMs = 5_000 } = {}) =>
      waitForDelivery(call, match, timeoutMs),
    faults: (rules) =>
      rules === undefined ? call(faults, "GET", "/faults") : call(faults, "POST", "/faults", rules),
    clearFaults: async () => void (await call(nothing, "DELETE", "/faults")),
    reset: async () => void (await call(nothing, "POST", "/reset")),
    snapshot: () => call(snapshot, "GET", "/snapshot"),
    restore: async (document) => void (await call(nothing, "PUT", "/snapshot", document)),
    clients: async (given) => {
      for (const each of [given].flat()) await call(nothing, "POST", "/clients", each);
    },
    switches: (given) =>
      given === undefined
        ? call(switches, "GET", "/switches")
        : call(switches, "PUT", "/switches", given),
    buckets: () => call(buckets, "GET", "/buckets"),
    conversations: () => call(conversations, "GET", "/conversations"),
  };
};

/** How to reach an emulator in another process. */
export interface ControlOptions {
  /** The `controlSecret` of the emulator, if it requires one. */
  readonly secret?: string;
}

/**
 * Returns the control interface of an emulator in another process. Never fails, because it sends
 * nothing before the first call.
 *
 * @param controlUrl from the first line of `emulator --json`
 * @example
 * import { connectControl } from "pulumi-conversation/emulator";
 *
 * const control = connectControl("http://127.0.0.1:4010/control");
 * await control.faults({ on: "POST /channels", kind: "drop-after-commit" });
 */
export const connectControl = (
  controlUrl: string,
  { secret }: ControlOptions = {},
): EmulatorControl =>
  controlThrough(async (method, path, sent) => {
    const headers = {
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    };
    const url = controlUrl.replace(/\/$/, "") + path;
    const answer = await fetch(url, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
    return { status: answer.status, text: await answer.text() };
  });
