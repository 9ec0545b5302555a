import { setTimeout as sleep } from "node:timers/promises";
import {
  type JsonObject,
  jsonIn,
  listAt,
  objectOf,
  objectsIn,
  textAt,
  valueAt,
} from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import type { Store, StoredObject } from "../objects/objects.js";
import type { FaultRule, Faults } from "../service/faults.js";
import type { Switches } from "../service/switches.js";
import {
  type ConversationStore,
  messageJson,
  type StoredConversation,
  type StoredMessage,
} from "./conversation-store.js";
import {
  type DeliveryFailure,
  deliveryFailures,
  failureOfStatus,
  isExampleUrl,
} from "./delivery-failures.js";
import {
  NoAnswer,
  noAnswerInTime,
  Outgoing,
  type OutgoingAnswer,
  type OutgoingCall,
} from "./outgoing.js";
import { isActive, type RecipientRole, roleOf, type SetUp } from "./recipients.js";

/** The error that explains why the service could not log in to a callback. */
class NoLogin extends NoAnswer {
  constructor(
    message: string,
    readonly failure: DeliveryFailure = deliveryFailures.noLogin,
  ) {
    super(message);
  }
}

/**
 * Makes a call to a callback, spoiled by a fault as if the callback or the connection had failed
 * that way.
 *
 * @throws NoAnswer that explains why there is no response
 */
const callWithFault = async (
  fault: FaultRule | undefined,
  call: OutgoingCall,
  send: (call: OutgoingCall) => Promise<OutgoingAnswer>,
): Promise<OutgoingAnswer> => {
  if (fault?.kind.endsWith("-after-commit")) await send(call);
  switch (fault?.kind) {
    case "status":
    case "status-after-commit":
      return { status: fault.status ?? 500, body: "" };
    case "drop-before-commit":
    case "drop-after-commit":
      throw new NoAnswer("ECONNRESET");
    case "hang":
      // Waiting for it would reveal nothing more.
      throw noAnswerInTime(call);
    case "delay": {
      // The time counts as the callback's own: if it takes too long, nobody waits for the rest.
      const { deadlineMs, signal } = call;
      const { ms = 0 } = fault;
      await sleep(Math.min(ms, deadlineMs), undefined, { ref: false, signal });
      if (ms >= deadlineMs) throw noAnswerInTime(call);
      return send({ ...call, deadlineMs: deadlineMs - ms });
    }
    default:
      return send(call);
  }
};

/** Headers that say where a message ends belong to the connection, not to the role's author. */
const framing = /^(content-length|transfer-encoding|connection|trailer|upgrade|keep-alive|expect)$/;

/** Headers by their names in lower case, from a list of names and values. */
const readHeaders = (list: readonly unknown[]): Record<string, string> =>
  Object.fromEntries(
    list.flatMap((entry) => {
      const name = textAt(entry, "name")?.toLowerCase();
      const value = valueAt(entry, "value");
      const isSent = name !== undefined && !framing.test(name) && typeof value === "string";
      return isSent ? [[name, value]] : [];
    }),
  );

/** What a call needs in addition to its address and body. */
type CallTerms = Pick<OutgoingCall, "deadlineMs" | "signal">;

interface Fetched {
  /** When the authentication was changed: a change makes the token stale. */
  readonly modified: string;
  readonly token: Promise<string>;
}

const basic = (object: StoredObject): string => {
  const user = textAt(object, "basicAuth", "username") ?? "";
  const password = textAt(object, "basicAuth", "password") ?? "";
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
};

/**
 * The steps of a simple JSONPath, such as `$.data.accessToken` or `$.tokens[0]`; undefined for any
 * other path.
 */
const stepsOf = (path: string): readonly (string | number)[] | undefined => {
  if (!/^\$((\.[\w-]+)|(\[\d{1,4}\]))+$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map(([, name, place]) =>
    name === undefined ? Number(place) : name,
  );
};

const tokenIn = (text: string, path: string): string => {
  const steps = stepsOf(path);
  if (!steps) throw new NoLogin("no token: accessTokenPath must be a path such as $.accessToken");
  const reply = jsonIn(text);
  if (reply === undefined)
    throw new NoLogin("no token: the response from the token URL is not JSON");
  const token = textAt(reply, ...steps);
  if (token) return token;
  throw new NoLogin("no token: the response has none at accessTokenPath");
};

/** The call that fetches a token; POST with JSON and `$.access_token` by default (assumed). */
const tokenCall = (object: StoredObject, terms: CallTerms): OutgoingCall => {
  const url = textAt(object, "oauth2", "tokenRequestUrl");
  if (url === undefined) throw new NoLogin("no token: the authentication has no tokenRequestUrl");
  const body = textAt(object, "oauth2", "payload");
  const own = readHeaders(listAt(object, "oauth2", "headers"));
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return {
    ...terms,
    url,
    method: textAt(object, "oauth2", "method")?.toUpperCase() ?? "POST",
    headers: { ...json, ...own },
    ...(body === undefined ? {} : { body }),
    wantsBody: true,
  };
};

/** Signs in at callbacks: Basic, or OAuth with a token that is kept until the callback answers 401. */
class CallbackAuthentication {
  readonly #fetched = new Map<string, Fetched>();

  constructor(
    private readonly setUp: SetUp,
    private readonly outgoing: Outgoing,
  ) {}

  /**
   * The Authorization header for a role; undefined if it has no authentication.
   *
   * @throws NoLogin if no token can be obtained
   */
  async headerFor(role: JsonObject, terms: CallTerms): Promise<string | undefined> {
    const id = textAt(role, "authentication", "id");
    if (id === undefined) return undefined;
    const object = this.setUp.store.get(authentication.collection, id);
    if (!object) throw new NoLogin("the role's authentication does not exist");
    if (!isActive(object)) throw new NoLogin("the role's authentication is not active");
    return object.basicAuth === undefined
      ? `Bearer ${await this.#tokenOf(object, terms)}`
      : basic(object);
  }

  /** Causes a new token to be fetched, if this header is still in use. */
  async forget(role: JsonObject, header: string): Promise<void> {
    const id = textAt(role, "authentication", "id") ?? "";
    const known = this.#fetched.get(id);
    const token = await known?.token.catch(() => undefined);
    if (header === `Bearer ${token}` && this.#fetched.get(id) === known) this.#fetched.delete(id);
  }

  /** Discards every token. */
  clear(): void {
    this.#fetched.clear();
  }

  #tokenOf(object: StoredObject, terms: CallTerms): Promise<string> {
    const known = this.#fetched.get(object.id);
    if (known?.modified === object.modified) return known.token;
    const token = this.#fetch(object, terms);
    const fetched: Fetched = { modified: object.modified, token };
    this.#fetched.set(object.id, fetched);
    token.catch(() => {
      if (this.#fetched.get(object.id) === fetched) this.#fetched.delete(object.id);
    });
    return token;
  }

  async #fetch(object: StoredObject, terms: CallTerms): Promise<string> {
    const call = tokenCall(object, terms);
    const { status, body } = await this.outgoing.call(call).catch((error) => {
      const reason = error instanceof NoAnswer ? error.message : "failed";
      throw new NoLogin(
        `no token from ${addressForLog(call.url)}: ${reason}`,
        isExampleUrl(call.url) ? deliveryFailures.example : deliveryFailures.noLogin,
      );
    });
    if (status < 200 || status > 299)
      throw new NoLogin(`no token: the token URL responded with ${status}`);
    return tokenIn(body, textAt(object, "oauth2", "accessTokenPath") ?? "$.access_token");
  }
}

/** How version v1 names the forms of content. */
const mimeTypes = {
  text: "text/plain",
  html: "text/html",
  json: "application/json",
  xml: "application/xml",
};

/** A message of version v3 as version v1 has it (vendor; that the path is in `url` is assumed). */
const v1 = ({ content, attachments, created, sent, ...message }: JsonObject): JsonObject => {
  const [form, type] = Object.entries(mimeTypes).find(([name]) => textAt(content, name)) ?? [];
  const files = objectsIn(attachments, "attachment").map(({ contentType, url, ...rest }) => {
    const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
    const path = address && address.pathname + address.search;
    return objectOf(Object.entries({ ...rest, mimeType: contentType, url: path }));
  });
  /** In GMT: `2026-01-02 03:04:05.006`. */
  const plain = (time: unknown) => String(time).replace("T", " ").replace("Z", "");
  return objectOf(
    Object.entries({
      ...message,
      content: form && { type, value: textAt(content, form) },
      attachments: files.length > 0 ? { attachment: files } : undefined,
      created: plain(created),
      sent: plain(sent),
    }),
  );
};

/** The body posted to a callback, in the version of its role (vendor). */
const writePayload = (
  { name, version }: JsonObject,
  message: StoredMessage,
  conversation: StoredConversation,
): JsonObject => {
  const wire = messageJson(message, {
    conversation: { ...conversation.about, ...message.about, id: conversation.id },
    // Only the one that is called, even if the message also goes to somebody else.
    recipients: { recipient: message.recipients.filter(({ type }) => type === name) },
    // Callbacks do not have it.
    status: undefined,
  });
  return objectOf([
    ["metadata", message.metadata],
    ["messages", { message: [version === "v1" ? v1(wire) : wire] }],
  ]);
};

const missingRole = ({ applicationId, role }: RecipientRole): string =>
  applicationId === ""
    ? `the orchestration specifies no active client application for the role ${role}`
    : `the client application has no role ${role}`;

/** An address without possible credentials. */
const addressForLog = (url: string): string => {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin === "null" ? "" : origin + pathname;
};

interface CallbackOutcome {
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  /** Present if the callback did not accept the message; `fault` is the kind that it met. */
  readonly failure?: DeliveryFailure & { readonly fault?: string };
  /**
   * Discards the token, so that the next attempt fetches a new one; present only if this might
   * help.
   */
  readonly renew?: () => Promise<void>;
}

export interface CallbackClientOptions {
  readonly store: Store;
  readonly conversations: ConversationStore;
  readonly switches: Switches;
  readonly faults: Faults;
  /** Deadline for the response from a callback, in milliseconds of real time. */
  readonly deadlineMs: number;
  /** The actual destination of a call. Default: the given URL. */
  readonly route?: (address: string) => string;
}

export class CallbackClient {
  readonly #outgoing: Outgoing;
  readonly #authentication: CallbackAuthentication;

  constructor(private readonly options: CallbackClientOptions) {
    this.#outgoing = new Outgoing(options.route);
    this.#authentication = new CallbackAuthentication(options, this.#outgoing);
  }

  /** Posts a message to a role's callback once. Never fails. */
  async post(
    recipient: RecipientRole,
    message: StoredMessage,
    signal: AbortSignal,
  ): Promise<CallbackOutcome> {
    const { conversations, faults, deadlineMs } = this.options;
    const role = roleOf(this.options, recipient);
    const conversation = conversations.get(message.conversationId);
    const callback = textAt(role, "callback") ?? "";
    const url = addressForLog(callback);
    if (!role || !conversation)
      return {
        url,
        error: `undeliverable: ${missingRole(recipient)}`,
        failure: deliveryFailures.noRecipient,
      };
    const limits = { deadlineMs, signal };
    let fault: FaultRule | undefined;
    const failed = (failure: DeliveryFailure) => ({
      failure: fault ? { ...deliveryFailures.fault, fault: fault.kind } : failure,
    });
    try {
      const authorization = await this.#authentication.headerFor(role, limits);
      const call = {
        ...limits,
        url: callback,
        method: "POST",
        headers: {
          accept: "application/json",
          ...readHeaders(listAt(role, "headers")),
          "content-type": "application/json",
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify(writePayload(role, message, conversation)),
      };
      const send = (one: OutgoingCall) => this.#outgoing.call(one);
      fault = faults.take("CALLBACK");
      const { status } = await callWithFault(fault, call, send);
      const failure = failureOfStatus(status);
      const outcome = { url, status, ...(failure ? failed(failure) : {}) };
      // Only a token can be renewed: the next attempt reads a changed password by itself.
      if (!authorization?.startsWith("Bearer ")) return outcome;
      return { ...outcome, renew: () => this.#authentication.forget(role, authorization) };
    } catch (error) {
      const said = error instanceof NoAnswer ? error.message : "the delivery failed";
      const usual = isExampleUrl(callback) ? "example" : "unreachable";
      const failure = error instanceof NoLogin ? error.failure : deliveryFailures[usual];
      return { url, error: said, ...failed(failure) };
    }
  }

  reset(): void {
    this.#authentication.clear();
  }

  close(): void {
    this.#outgoing.close();
  }
}
