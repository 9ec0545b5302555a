import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isKeyOf, isObject, type JsonObject } from "../../provider/kernel/json.js";
import { noResponse, type ServiceResponse, sendResponse, serialised } from "../http/exchange.js";
import { tooManyRequests } from "./access.js";

/** Headers that say where a message ends belong to the connection, not to a rule. */
const framing = /^(content-length|transfer-encoding|connection|trailer|upgrade|keep-alive)$/i;

const headerName = z
  .string()
  .regex(/^[\w-]+$/)
  .refine((name) => !framing.test(name), "must not set the message length");
/** What a header can hold: no control characters, and nothing beyond Latin-1. */
const headerText = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);

const statusMembers = {
  status: z.int().min(200).max(599),
  body: z.unknown().optional(),
  headers: z.record(headerName, headerText).optional(),
} as const;
const msMember = { ms: z.number().min(0).max(86_400_000) } as const;

interface FaultShape {
  /** The rule's additional members. */
  readonly members: Readonly<Record<string, z.ZodType>>;
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

/** Header names in lower case, so that they replace the usual ones. */
const lowerCased = (headers: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name.toLowerCase(), String(text)]),
  );

/**
 * Parses a rule from a control call.
 *
 * @param endpoints the known endpoints
 * @throws Error that describes what is wrong and what is allowed
 */
export const parseFault = (value: unknown, endpoints: readonly string[]): FaultRule => {
  if (!isObject(value))
    throw new Error('A fault is an object such as {"on": "POST /channels", "kind": "hang"}.');
  const { on, kind, headers } = value;
  if (typeof on !== "string" || !endpoints.includes(on))
    throw new Error(`A fault's "on" must be one of: ${endpoints.join(", ")}.`);
  if (!isKeyOf(faultKinds, kind))
    throw new Error(`A fault's "kind" must be one of: ${Object.keys(faultKinds).join(", ")}.`);
  const { members, listsOnly, callbacks }: FaultShape = faultKinds[kind];
  const rule = z.strictObject({
    ...{ on: z.string(), kind: z.string(), ...members },
    times: z.int().min(1).default(1),
    after: z.int().min(0).default(0),
  });
  const read = rule.safeParse(value);
  if (!read.success) {
    const [{ path, message } = { path: [], message: "" }] = read.error.issues;
    throw new Error(`A fault of kind ${kind}: ${[path.join("."), message].join(" ").trim()}.`);
  }
  if (listsOnly && !/^GET [^{]+$/.test(on))
    throw new Error(`A fault of kind ${kind} applies only to lists, such as "GET /channels".`);
  if (on === "CALLBACK" && !callbacks)
    throw new Error(`A fault of kind ${kind} cannot apply to callbacks, which the service calls.`);
  const { times, after } = read.data;
  const lowered = isObject(headers) ? { headers: lowerCased(headers) } : {};
  return { ...value, ...lowered, on, kind, times, after };
};

interface PendingFault {
  readonly rule: FaultRule;
  after: number;
  times: number;
}

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
