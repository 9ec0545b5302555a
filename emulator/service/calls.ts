import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../provider/kernel/json.js";
import {
  failureOf,
  HttpError,
  noResponse,
  readBody,
  reasonOf,
  type ServiceResponse,
  sendResponse,
  serialised,
} from "../http/exchange.js";
import { assertScope, type RateLimiter, type ScopeLabel, type Tokens } from "./access.js";
import { type EmulatorClock, timestamp } from "./clock.js";
import { beforeOperation, type FaultRule, type Faults, sendWithFault } from "./faults.js";

/** The last entries of a list that would otherwise grow without limit. */
export class RecentEntries<T> {
  #entries: T[] = [];
  /** Number of entries removed before the first stored one. */
  #forgotten = 0;

  constructor(private readonly most: number) {}

  add(entry: T): void {
    this.#entries.push(entry);
    // Trimmed only now and then, as trimming copies the list.
    if (this.#entries.length >= 2 * this.most) this.#forget(this.#entries.length - this.most);
  }

  /** The entries in order of arrival. */
  all(): readonly T[] {
    return this.#entries.slice(-this.most);
  }

  /** The place of the next entry. */
  get next(): number {
    return this.#forgotten + this.#entries.length;
  }

  /** The entry at a place; undefined if it is no longer stored. */
  at(place: number): T | undefined {
    return this.#entries[place - this.#forgotten];
  }

  clear(): void {
    this.#forget(this.#entries.length);
  }

  #forget(count: number): void {
    this.#forgotten += count;
    this.#entries = this.#entries.slice(count);
  }
}

/** One call in the log, without secrets, tokens, or bodies. */
export interface LogEntry {
  /** Position among all calls since the emulator started: 0, 1, 2, … */
  readonly place: number;
  readonly at: string;
  readonly method: string;
  readonly template: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly clientId?: string;
}

export interface ShownCall extends LogEntry {
  /**
   * Why the service refused the call: the code and the message in its response, never a value from
   * the request.
   */
  readonly reason?: string;
}

export interface KeptBody {
  /** Size in bytes. */
  readonly size: number;
  /** The body's text. Absent if the body is too large to be stored. */
  readonly text?: string;
}

/**
 * Details of a call. The bodies contain secrets in plain text; hide the secrets before you show a
 * body.
 */
export interface CallContent {
  readonly sent?: KeptBody | undefined;
  readonly answer?: KeptBody | undefined;
  /** The kind of fault that the call encountered. */
  readonly fault?: string | undefined;
}

/** Maximum size of a stored body, in bytes. */
const longestKept = 64 * 1024;
/** So many calls are kept, and of so many the bodies. */
const [mostCalls, mostContents] = [10_000, 250];

/** A body in its stored form; undefined if the body is empty. @param text returns the body's text */
export const keptBody = (size: number, text: () => string): KeptBody | undefined => {
  if (size === 0) return undefined;
  return size > longestKept ? { size } : { size, text: text() };
};

/** How many calls to an endpoint were refused because of the rate limit, and how many were not. */
export interface CallCounts {
  accepted: number;
  refused: number;
}

/** The last calls, the bodies of the very last, and the number of calls to each endpoint. */
export class CallLog {
  readonly entries = new RecentEntries<ShownCall>(mostCalls);
  readonly #counts = new Map<string, CallCounts>();
  /** At the same places. */
  readonly #contents = new RecentEntries<CallContent>(mostContents);

  /**
   * Logs a call. A 429 counts as refused; every other response to an authenticated client counts as
   * accepted.
   */
  add(entry: Omit<ShownCall, "place">, content: CallContent): void {
    this.entries.add({ place: this.entries.next, ...entry });
    this.#contents.add(content);
    if (entry.clientId === undefined) return;
    const { method, template, status } = entry;
    const name = `${method} ${template}`;
    const counts = this.#counts.get(name) ?? { accepted: 0, refused: 0 };
    counts[status === 429 ? "refused" : "accepted"] += 1;
    this.#counts.set(name, counts);
  }

  counts(): Readonly<Record<string, CallCounts>> {
    return Object.fromEntries(this.#counts);
  }

  /** The call at a position, and its details; undefined if either is no longer stored. */
  callAt(place: number): { readonly entry: ShownCall; readonly content: CallContent } | undefined {
    const [entry, content] = [this.entries.at(place), this.#contents.at(place)];
    return entry && content && { entry, content };
  }

  reset(): void {
    this.entries.clear();
    this.#counts.clear();
    this.#contents.clear();
  }
}

export interface OperationCall {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** The value of `{id}` in the path. */
  readonly id: string;
  /** @throws HttpError if it is not a JSON object */
  readonly body: () => JsonObject;
  /** The fault for this call; some faults change the operation's behavior. */
  readonly fault?: FaultRule | undefined;
}

/** Performs a call on the part of the emulator that it needs. Throws HttpError to refuse the call. */
export type OperationHandler<Needs> = (needs: Needs, call: OperationCall) => ServiceResponse;

export interface Route<Hub> {
  readonly method: string;
  readonly template: string;
  /** The endpoint's name in rates, logs, and faults, such as `POST /channels`. */
  readonly name: string;
  /** Any one of these scopes suffices. */
  readonly scopes: readonly ScopeLabel[];
  readonly carryOut: OperationHandler<Hub>;
}

/** The operations of a path. */
export interface PathMatch<Hub> {
  readonly methods: ReadonlyMap<string, Route<Hub>>;
  readonly template: string;
  /** The value of `{id}`. */
  readonly id: string;
}

/** Returns a function that finds the operations of a path; undefined if the path is unknown. */
export const pathMatcher = <Hub>(routes: readonly Route<Hub>[]) => {
  const byPath = new Map(
    [...Map.groupBy(routes, ({ template }) => template)].map(([template, own]) => [
      template,
      new Map(own.map((each) => [each.method, each])),
    ]),
  );
  return (path: string): PathMatch<Hub> | undefined => {
    // Paths without a variable part come first: `/conversations/messages` is no conversation.
    const exact = path.includes("{") ? undefined : byPath.get(path);
    if (exact) return { methods: exact, template: path, id: "" };
    const [, collection = "", id = "", ...more] = path.split("/");
    const template = `/${collection}/{id}`;
    const methods = byPath.get(template);
    return methods && id !== "" && more.length === 0 ? { methods, template, id } : undefined;
  };
};

/** What every call passes. */
interface CallMeans {
  readonly clock: EmulatorClock;
  readonly tokens: Tokens;
  readonly rateLimiter: RateLimiter;
  readonly faults: Faults;
  readonly log: CallLog;
}

interface ApiRequest<Hub> {
  readonly request: IncomingMessage;
  /** Below the base path of the service. */
  readonly path: string;
  readonly match: PathMatch<Hub> | undefined;
  readonly query: URLSearchParams;
}

/** @throws HttpError if the service does not have the path or the method */
const findRoute = <Hub>(match: PathMatch<Hub> | undefined, method = ""): Route<Hub> => {
  if (!match) throw new HttpError(404, "404-100", "This path does not exist.");
  const found = match.methods.get(method);
  if (found) return found;
  const allow = [...match.methods.keys()].join(", ");
  throw new HttpError(405, "405-100", `${match.template} allows ${allow}.`, [], { allow });
};

/** What is known about a call, for the log and for its answer; filled in as the call proceeds. */
interface CallProgress {
  sent?: Buffer;
  clientId?: string;
  fault?: FaultRule | undefined;
}

/**
 * Checks in the order of the service's refusals: path, token, rate, scope, object, body. A fault
 * comes after the rate, so that a call refused anyway uses up none, and a spoiled one is counted.
 */
const answerCall = async <Hub extends CallMeans>(
  hub: Hub,
  { request, match, query }: ApiRequest<Hub>,
  response: ServerResponse,
  progress: CallProgress,
): Promise<ServiceResponse> => {
  const { bytes, json: body } = await readBody(request);
  progress.sent = bytes;
  const route = findRoute(match, request.method);
  const claims = hub.tokens.authenticate(request.headers.authorization);
  progress.clientId = claims.clientId;
  const refusal = hub.rateLimiter.refusal(route.name);
  if (refusal) return refusal;
  const fault = hub.faults.take(route.name);
  progress.fault = fault;
  const early = fault && (await beforeOperation(fault, response));
  if (early) return early;
  assertScope(claims, route.scopes);
  return route.carryOut(hub, { request, query, id: match?.id ?? "", body, fault });
};

/** The answer to a failure; none if the caller went away before the call was complete. */
const answerFailure = (error: unknown, { complete }: IncomingMessage): ServiceResponse =>
  complete || error instanceof HttpError ? failureOf(error).response() : noResponse;

const longestPath = 300;

/** A copy, as a substring keeps the whole text in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

/** A long answer is not made into text a second time. */
export const keptAnswer = (
  { body }: ServiceResponse,
  response: ServerResponse,
): KeptBody | undefined => {
  if (body === undefined) return undefined;
  const announced = Number(response.getHeader("content-length") ?? 0);
  if (announced > longestKept) return { size: announced };
  const text = String(serialised(body));
  return keptBody(Buffer.byteLength(text), () => text);
};

/** Logs a call that began at a time of `performance`. */
export const logCall = (
  { clock, log }: Pick<CallMeans, "clock" | "log">,
  { method = "" }: IncomingMessage,
  { status, body }: ServiceResponse,
  call: Pick<LogEntry, "template" | "path" | "clientId"> & { readonly started: number },
  content: CallContent,
): void => {
  const { started, ...where } = call;
  const reason = reasonOf({ status, body });
  const ms = Math.round(performance.now() - started);
  const entry = { at: timestamp(clock.now()), method, ...where, status, ms };
  log.add(reason === undefined ? entry : { ...entry, reason }, content);
};

export const serveCall = async <Hub extends CallMeans>(
  hub: Hub,
  api: ApiRequest<Hub>,
  response: ServerResponse,
): Promise<void> => {
  const started = performance.now();
  const { request, match } = api;
  const progress: CallProgress = {};
  const answer = await answerCall(hub, api, response, progress).catch((error) =>
    answerFailure(error, request),
  );
  const { sent, clientId, fault } = progress;
  if (fault) sendWithFault(response, answer, fault);
  else if (answer !== noResponse) sendResponse(response, answer);
  const where = {
    template: match?.template ?? "(none)",
    path: copied(api.path.slice(0, longestPath)),
    ...(clientId === undefined ? {} : { clientId }),
  };
  logCall(
    hub,
    request,
    answer,
    { started, ...where },
    {
      sent: sent && keptBody(sent.length, () => sent.toString()),
      answer: keptAnswer(answer, response),
      fault: fault?.kind,
    },
  );
};
