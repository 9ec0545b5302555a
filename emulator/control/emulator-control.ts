import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import type { ConversationDocument } from "../conversations/conversation-store.js";
import type { DeliveryEntry } from "../conversations/deliveries.js";
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
   * @param isMeant whether it is this one; if omitted, any that a callback accepted (2xx)
   * @param options `timeoutMs` in real milliseconds; default: 5,000
   * @throws Error that names the last attempt, after that time
   */
  waitForDelivery(
    isMeant?: (entry: DeliveryEntry) => boolean,
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

/** Sends a control call, its path below the control address, with JSON as its body or none. */
type SendControl = (
  method: string,
  path: string,
  sent?: string,
) => Promise<{ status: number; text: string }>;

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

const pollMs = 20;

const waitForDelivery = async (
  call: Call,
  isMeant: (entry: DeliveryEntry) => boolean,
  timeoutMs: number,
): Promise<DeliveryEntry> => {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const seen = await call(controlAnswers.deliveries, "GET", "/deliveries");
    const found = seen.find(isMeant);
    if (found) return found;
    if (performance.now() >= until) {
      const last =
        seen.length === 0 ? "There was none." : `The last: ${JSON.stringify(seen.at(-1))}.`;
      throw new Error(`The emulator made no such delivery within ${timeoutMs} ms. ${last}`);
    }
    await sleep(pollMs);
  }
};

/** The control calls as functions, over any transport. */
export const controlThrough = (send: SendControl): EmulatorControl => {
  const call = callWith(send);
  const { nothing, clock, stats, log, deliveries, faults, conversations } = controlAnswers;
  const { snapshot, switches } = controlAnswers;
  return {
    advance: async (ms) => (await call(clock, "POST", "/clock", { advanceMs: ms })).now,
    stats: () => call(stats, "GET", "/stats"),
    log: () => call(log, "GET", "/log"),
    deliveries: () => call(deliveries, "GET", "/deliveries"),
    waitForDelivery: (isMeant = isAccepted, { timeoutMs = 5_000 } = {}) =>
      waitForDelivery(call, isMeant, timeoutMs),
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
