import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { noResponse, type ServiceResponse, sendResponse, serialised } from "../http/exchange.js";
import { tooManyRequests } from "./access.js";

type Check = (value: unknown) => boolean;

const isMs: Check = (value) => typeof value === "number" && value >= 0 && value <= 86_400_000;
const isStatus: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599;
/** What a header can hold: no control characters, and nothing beyond Latin-1. */
const isHeaderText: Check = (value) =>
  typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
/** Headers that say where a message ends belong to the connection, not to a rule. */
const framing = /^(content-length|transfer-encoding|connection|trailer|upgrade|keep-alive)$/i;
const isHeaders: Check = (value) =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, text]) => /^[\w-]+$/.test(name) && !framing.test(name) && isHeaderText(text),
  );
const isAnything: Check = () => true;

interface FaultShape {
  /** The rule's additional members: how they are checked, and whether they are required. */
  readonly members: Readonly<
    Record<string, { readonly fits: Check; readonly rule: string; readonly required?: true }>
  >;
  /** Whether the fault applies only to operations that list a collection. */
  readonly listsOnly?: true;
  /**
   * Whether the fault also applies to callbacks, as if the callback or the connection to it failed
   * in that way.
   */
  readonly callbacks?: true;
}

/** The endpoints, other than the service's operations, for which you can set faults. */
export const furtherEndpoints = ["TOKEN", "UPLOAD", "DOWNLOAD", "CALLBACK"] as const;

const statusMembers = {
  status: { fits: isStatus, rule: "a status from 200 to 599", required: true },
  body: { fits: isAnything, rule: "any JSON value; text is sent unchanged" },
  headers: {
    fits: isHeaders,
    rule: "an object of header names and values, without headers that set the message length",
  },
} as const;
const msMember = {
  ms: { fits: isMs, rule: "milliseconds from 0 to 86,400,000", required: true },
} as const;

/** Every way in which a call can fail on demand; docs/emulator.md describes each. */
export const faultKinds = {
  status: {
    members: statusMembers,
    callbacks: true,
  },
  "status-after-commit": {
    members: statusMembers,
    callbacks: true,
  },
  "drop-before-commit": {
    members: {},
    callbacks: true,
  },
  "drop-after-commit": { members: {}, callbacks: true },
  truncate: { members: {} },
  "not-json": { members: {} },
  delay: { members: msMember, callbacks: true },
  hang: { members: {}, callbacks: true },
  drip: { members: {} },
  "stale-list": {
    members: msMember,
    listsOnly: true,
  },
  "forbidden-list": { members: {}, listsOnly: true },
} as const satisfies Readonly<Record<string, FaultShape>>;

/** The kind of a fault. */
export type FaultKind = keyof typeof faultKinds;

/** A rule that says what fails, when and how often. */
export interface FaultRule {
  readonly on: string;
  readonly kind: FaultKind;
  readonly times: number;
  /**
   * Number of calls to the endpoint before the rule's first fault, including calls that an earlier
   * rule affects.
   */
  readonly after: number;
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ms?: number;
}

const isKind = (kind: unknown): kind is FaultKind =>
  typeof kind === "string" && Object.hasOwn(faultKinds, kind);
const isCount = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && Number(value) >= least;

const wrongMember = (rule: Readonly<Record<string, unknown>>, { members }: FaultShape) => {
  for (const [name, { fits, rule: text, required }] of Object.entries(members)) {
    const value = rule[name];
    if (value === undefined ? required : !fits(value)) return `${name} must be ${text}`;
  }
  const known = ["on", "kind", "times", "after", ...Object.keys(members)];
  const unknown = Object.keys(rule).find((name) => !known.includes(name));
  return unknown === undefined
    ? undefined
    : `there is no member ${unknown.slice(0, 60)}; use ${known.join(", ")}`;
};

/** Header names in lower case, so that they replace the usual ones. */
const lowerCased = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name.toLowerCase(), String(text)]),
  );

/**
 * Parses a rule from a control call.
 *
 * @throws Error that describes what is wrong and what is allowed
 */
export const parseFault = (value: unknown, endpoints: readonly string[]): FaultRule => {
  if (!isObject(value))
    throw new Error('A fault is an object such as {"on": "POST /channels", "kind": "hang"}.');
  const { on, kind, times = 1, after = 0 } = value;
  if (typeof on !== "string" || !endpoints.includes(on))
    throw new Error(`A fault's "on" must be one of: ${endpoints.join(", ")}.`);
  if (!isKind(kind))
    throw new Error(`A fault's "kind" must be one of: ${Object.keys(faultKinds).join(", ")}.`);
  if (!isCount(times, 1))
    throw new Error('A fault\'s "times" must be a whole number of at least 1.');
  if (!isCount(after, 0))
    throw new Error('A fault\'s "after" must be a whole number of at least 0.');
  const shape: FaultShape = faultKinds[kind];
  const wrong = wrongMember(value, shape);
  if (wrong) throw new Error(`A fault of kind ${kind}: ${wrong}.`);
  if (shape.listsOnly && !/^GET [^{]+$/.test(on))
    throw new Error(`A fault of kind ${kind} applies only to lists, such as "GET /channels".`);
  if (on === "CALLBACK" && !shape.callbacks)
    throw new Error(`A fault of kind ${kind} cannot apply to callbacks, which the service calls.`);
  const { headers } = value;
  const lowered = isObject(headers) ? { headers: lowerCased(headers) } : {};
  return { ...value, ...lowered, on, kind, times: Number(times), after: Number(after) };
};

interface PendingFault {
  readonly rule: FaultRule;
  after: number;
  times: number;
}

/** The pending faults. */
export class Faults {
  #pending: PendingFault[] = [];

  add(rules: readonly FaultRule[]): void {
    this.#pending.push(...rules.map((rule) => ({ rule, after: rule.after, times: rule.times })));
  }

  /**
   * The fault for a call to this endpoint: the first rule that is due, if any. The call counts
   * toward the `after` of every rule for the endpoint.
   */
  take(on: string): FaultRule | undefined {
    let due: PendingFault | undefined;
    for (const pending of this.#pending) {
      if (pending.rule.on !== on) continue;
      if (pending.after > 0) pending.after -= 1;
      else due ??= pending;
    }
    if (!due) return undefined;
    due.times -= 1;
    if (due.times === 0) this.#pending = this.#pending.filter((other) => other !== due);
    return due.rule;
  }

  left(): readonly FaultRule[] {
    return this.#pending.map(({ rule, after, times }) => ({ ...rule, after, times }));
  }

  clear(): void {
    this.#pending = [];
  }
}

const errorBody = (status: number): unknown => {
  if (status < 400) return undefined;
  if (status === 429) return tooManyRequests;
  return { code: `${status}-100`, developerMessage: "A fault produced this response." };
};

/**
 * With these, an answer ends after its headers (RFC 9110 §6.4.1): a body would be taken for the
 * next answer.
 */
const withoutBody = [204, 205, 304];

/** The response that a fault asks for; a failure without a body gets the service's error body. */
const statusResponse = ({ status = 500, body, headers = {} }: FaultRule): ServiceResponse =>
  withoutBody.includes(status)
    ? { status, headers }
    : { status, body: body === undefined ? errorBody(status) : body, headers };

/**
 * Applies a fault before the service acts.
 *
 * @returns the response if the service must not act; undefined if it acts
 */
export const beforeOperation = async (
  fault: FaultRule,
  response: ServerResponse,
): Promise<ServiceResponse | undefined> => {
  switch (fault.kind) {
    case "status":
      return statusResponse(fault);
    case "drop-before-commit":
      response.destroy();
      return noResponse;
    case "hang":
      return noResponse;
    case "delay":
      await sleep(fault.ms ?? 0, undefined, { ref: false });
      return undefined;
    default:
      return undefined;
  }
};

/** These faults always send a body, whatever the service answers. */
const withBody = ({ status, body, headers }: ServiceResponse) => ({
  status: status === 204 ? 200 : status,
  bytes: Buffer.from(serialised(body ?? { accepted: true })),
  headers: { "content-type": "application/json", ...headers },
});

const truncate = (response: ServerResponse, answer: ServiceResponse): void => {
  const { status, bytes, headers } = withBody(answer);
  response.writeHead(status, { ...headers, "content-length": bytes.length + 100 });
  // The socket is destroyed only after this part is sent, so that the caller sees a truncated
  // answer.
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
};

const drip = async (response: ServerResponse, answer: ServiceResponse): Promise<void> => {
  const { status, bytes, headers } = withBody(answer);
  response.writeHead(status, { ...headers, "content-length": bytes.length });
  for (const byte of bytes) {
    if (response.destroyed) return;
    response.write(Uint8Array.of(byte));
    await sleep(200, undefined, { ref: false });
  }
  response.end();
};

const page = "<!doctype html><html><body>The service is under maintenance.</body></html>";

/** Sends a response as altered by a fault. */
export const sendWithFault = (
  response: ServerResponse,
  answer: ServiceResponse,
  fault: FaultRule,
) => {
  if (answer === noResponse) return;
  switch (fault.kind) {
    case "status-after-commit":
      return sendResponse(response, statusResponse(fault));
    case "drop-after-commit":
      return void response.destroy();
    case "truncate":
      return truncate(response, answer);
    case "not-json":
      return sendResponse(response, { status: withBody(answer).status, body: page });
    case "drip":
      return void drip(response, answer);
    default:
      return sendResponse(response, answer);
  }
};
