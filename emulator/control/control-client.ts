import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { isObject } from "../../provider/kernel/json.js";
import type { DeliveryEntry } from "../runtime/callbacks/deliveries.js";
import { controlAnswers } from "./control-answers.js";
import type { DeliveryMatch, EmulatorControl } from "./emulator-control.js";

/** A control call was refused, or answered with what no emulator answers. */
export class ControlError extends Error {
  override readonly name = "ControlError";

  constructor(
    message: string,
    /** HTTP status of the answer. */
    readonly status: number,
  ) {
    super(message);
  }
}

/** Sends a control call, its path below the control address. */
export type SendControl = (path: string, init: RequestInit) => Response | Promise<Response>;

type Call = <T>(
  answer: z.ZodType<T>,
  method: string,
  path: string,
  ...body: readonly unknown[]
) => Promise<T>;

const jsonIn = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};

const reasonIn = (value: unknown): string =>
  isObject(value) && typeof value.error === "string" ? value.error : "no reason was given";

const callWith =
  (send: SendControl): Call =>
  async (answer, method, path, ...body) => {
    const json = { body: JSON.stringify(body[0]), headers: { "content-type": "application/json" } };
    const response = await send(path, { method, ...(body.length > 0 ? json : {}) });
    const value = jsonIn(await response.text());
    const what = `Controlling the emulator: ${method} ${path}`;
    if (!response.ok)
      throw new ControlError(
        `${what} was refused (${response.status}): ${reasonIn(value)}`,
        response.status,
      );
    const read = answer.safeParse(value);
    if (read.success) return read.data;
    throw new ControlError(`${what} answered with what no emulator answers.`, response.status);
  };

const isAccepted = ({ status = 0 }: DeliveryEntry): boolean => status >= 200 && status <= 299;

/** Whether every member of the match is the same in the entry; without a status: one that was accepted. */
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
  if (seen.length === 0) return "No delivery was tried.";
  const last = seen.slice(-5).map((entry) => {
    const outcome = entry.status ?? entry.error ?? "no answer";
    return `${entry.type} ${entry.messageId} to ${entry.url || "nobody"}: ${outcome}`;
  });
  return `Tried were (the last ${last.length} of ${seen.length}): ${last.join("; ")}.`;
};

const pollMs = 20;

const waitForDelivery = async (call: Call, match: DeliveryMatch, timeoutMs: number) => {
  const until = performance.now() + timeoutMs;
  const seen: DeliveryEntry[] = [];
  for (let next = 0; ; ) {
    const news = await call(controlAnswers.deliveriesSince, "GET", `/deliveries?since=${next}`);
    const found = news.entries.find((entry) => fits(match, entry));
    if (found) return found;
    seen.push(...news.entries);
    next = news.next;
    if (performance.now() >= until) break;
    await sleep(pollMs);
  }
  const what = typeof match === "function" ? "that fits" : `with ${JSON.stringify(match)}`;
  throw new Error(`No delivery ${what} within ${timeoutMs} ms. ${seenText(seen)}`);
};

/** The control calls as functions, sent in whichever way. */
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
    mailbox: () => call(controlAnswers.mailbox, "GET", "/mailbox"),
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
    conversations: (since) =>
      call(
        conversations,
        "GET",
        since === undefined
          ? "/conversations"
          : `/conversations?since=${encodeURIComponent(since.toISOString())}`,
      ),
  };
};
