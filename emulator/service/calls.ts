import type { IncomingMessage, ServerResponse } from "node:http";
import { type JsonObject, jsonIn, listAt, textAt } from "../../provider/kernel/json.js";
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
import type { Switches } from "./switches.js";

/** The last entries of a list that would otherwise grow without limit. */
export class RecentEntries<T> {
  #entries: T[] = [];
  /** Number of entries removed before the first stored one. */
  #forgotten = 0;

  constructor(private readonly most: number) {}

  /** @returns its place */
  add(entry: T): number {
    const place = this.#forgotten + this.#entries.push(entry) - 1;
    // Trimmed only now and then, as trimming copies the list.
    if (this.#entries.length >= 2 * this.most) this.#forget(this.#entries.length - this.most);
    return place;
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
  readonly at: string;
  readonly method: string;
  readonly template: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly clientId?: string;
}

/** The subjects of an entry, for links and filters. */
export interface WithSubjects {
  /** The subjects, such as `channels/<id>`, `conversations/<id>`, or `messages/<messageId>`. */
  readonly subjects: readonly string[];
}

/** A call as the page lists it. */
export interface ShownCall extends LogEntry, WithSubjects {
  /**
   * Why the service refused the call: the code and the message in its response, never a value from
   * the request.
   */
  readonly reason?: string;
}

/** The body of a request or response. */
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
/** How much of all bodies is kept, in characters; the oldest go first. */
const mostCharacters = 8 * 1024 * 1024;
const mostCalls = 10_000;

/** A body in its stored form; undefined if the body is empty. @param text returns the body's text */
export const keptBody = (size: number, text: () => string): KeptBody | undefined => {
  if (size === 0) return undefined;
  return size > longestKept ? { size } : { size, text: text() };
};

const charactersOf = ({ sent, answer }: CallContent): number =>
  (sent?.text?.length ?? 0) + (answer?.text?.length ?? 0);

/** How many calls to an endpoint were refused because of the rate limit, and how many were not. */
export interface CallCounts {
  accepted: number;
  refused: number;
}

/** The last calls with their bodies, and the number of calls to each endpoint. */
export class CallLog {
  readonly entries = new RecentEntries<ShownCall>(mostCalls);
  readonly #counts = new Map<string, CallCounts>();
  /** The details of each call, keyed by the call's position, oldest first. */
  readonly #contents = new Map<number, CallContent>();
  #characters = 0;

  /**
   * Logs a call. A 429 counts as refused; every other response to an authenticated client counts as
   * accepted.
   */
  add(entry: ShownCall, content: CallContent): void {
    this.#keep(this.entries.add(entry), content);
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
    const [entry, content] = [this.entries.at(place), this.#contents.get(place)];
    return entry && content && { entry, content };
  }

  reset(): void {
    this.entries.clear();
    this.#counts.clear();
    this.#contents.clear();
    this.#characters = 0;
  }

  #keep(place: number, content: CallContent): void {
    this.#contents.set(place, content);
    this.#characters += charactersOf(content);
    for (const [oldest, gone] of this.#contents) {
      if (this.#characters <= mostCharacters && this.#contents.size <= mostCalls) break;
      this.#contents.delete(oldest);
      this.#characters -= charactersOf(gone);
    }
  }
}

/** One permitted call to the service. */
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

/** An operation of the service. */
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
  readonly switches: Switches;
  readonly tokens: Tokens;
  readonly rateLimiter: RateLimiter;
  readonly faults: Faults;
  readonly log: CallLog;
}

/** A request to the service. */
interface ApiRequest<Hub> {
  readonly request: IncomingMessage;
  /** Below the base path of the service. */
  readonly path: string;
  /** The operations of the path; undefined if there are none. */
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
const answerFailure = (
  error: unknown,
  { platformName }: Switches,
  { headers, complete }: IncomingMessage,
): ServiceResponse => {
  if (!complete && !(error instanceof HttpError)) return noResponse;
  const asked = headers[`x-${platformName}-error-message`];
  return failureOf(error).response(String(asked).toLowerCase() === "yes");
};

/** An ID is part of a subject up to this length. */
const longestId = 255;
/** A call with many messages is found by the first ones. */
const mostSubjects = 20;
const longestPath = 300;

/** A copy, as a substring keeps the whole text in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

/** What a call is about: the object of its path, the one that it made, its messages. */
const findSubjects = (
  template: string,
  id: string,
  { status, body }: ServiceResponse,
  sent: KeptBody | undefined,
): readonly string[] => {
  const own = id || (status < 400 && textAt(body, "id")) || "";
  // A refused message names its conversation only in what was sent.
  const said = status < 400 ? body : jsonIn(sent?.text ?? "");
  const messages = own ? [] : listAt(said, "messages", "message");
  const subjects = [
    own && `${template.split("/")[1]}/${own}`,
    ...messages.flatMap((message) => {
      const conversation = textAt(message, "conversation", "id");
      const messageId = textAt(message, "messageId");
      return [
        conversation && `conversations/${conversation}`,
        messageId && `messages/${messageId}`,
      ];
    }),
  ];
  return [...new Set(subjects)]
    .flatMap((subject) => (subject && subject.length <= longestId ? [copied(subject)] : []))
    .slice(0, mostSubjects);
};

/** A long answer is not made into text a second time. */
const keptAnswer = ({ body }: ServiceResponse, response: ServerResponse): KeptBody | undefined => {
  if (body === undefined) return undefined;
  const announced = Number(response.getHeader("content-length") ?? 0);
  if (announced > longestKept) return { size: announced };
  const text = String(serialised(body));
  return keptBody(Buffer.byteLength(text), () => text);
};

/** Serves one call to the service and logs it. */
export const serveCall = async <Hub extends CallMeans>(
  hub: Hub,
  api: ApiRequest<Hub>,
  response: ServerResponse,
): Promise<void> => {
  const started = performance.now();
  const { request, match, path } = api;
  const progress: CallProgress = {};
  const answer = await answerCall(hub, api, response, progress).catch((error) =>
    answerFailure(error, hub.switches, request),
  );
  const { sent, clientId, fault } = progress;
  if (fault) sendWithFault(response, answer, fault);
  else if (answer !== noResponse) sendResponse(response, answer);
  const content: CallContent = {
    sent: sent && keptBody(sent.length, () => sent.toString()),
    answer: keptAnswer(answer, response),
    fault: fault?.kind,
  };
  const template = match?.template ?? "(none)";
  const reason = reasonOf(answer);
  const entry: ShownCall = {
    at: timestamp(hub.clock.now()),
    method: request.method ?? "",
    template,
    path: copied(path.slice(0, longestPath)),
    status: answer.status,
    ms: Math.round(performance.now() - started),
    subjects: findSubjects(template, match?.id ?? "", answer, content.sent),
    ...(clientId === undefined ? {} : { clientId }),
    ...(reason === undefined ? {} : { reason }),
  };
  hub.log.add(entry, content);
};
