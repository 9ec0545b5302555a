import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";
import type { Faults } from "../../control/faults.js";
import type { Switches } from "../../control/switches.js";
import type { Store } from "../../objects/store.js";
import {
  type ConversationStore,
  messageJson,
  type StoredConversation,
  type StoredMessage,
} from "../conversation-store.js";
import { listAt, textOnPath, valueOnPath } from "../json-path.js";
import { type RecipientRole, roleOf } from "../recipients.js";
import { CallbackAuthentication, headersOf } from "./callback-authentication.js";
import { callWithFault } from "./callback-faults.js";
import { NoAnswer, Outgoing, type OutgoingCall } from "./outgoing.js";

/** Content as text: the text itself, or the JSON of what is none. */
const textOf = (content: unknown): string => {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (isObject(content) && typeof content.text === "string") return content.text;
  return JSON.stringify(content);
};

/** As when it was sent, with what the service adds (public reference). */
const v3 = (message: StoredMessage, conversation: StoredConversation, switches: Switches) => {
  const further = { conversation: { ...conversation.about, id: conversation.id } };
  const text = { content: textOf(message.body.content) };
  const wire = messageJson(message, {
    ...further,
    ...(switches.callbackContent === "text" ? text : {}),
  });
  return objectOf([
    ["metadata", message.metadata],
    ["messages", { message: [wire] }],
  ]);
};

/** The older generation: content is text, time is a number, a sender is a user or the system (assumed). */
const v1 = (message: StoredMessage, conversation: StoredConversation): JsonObject => {
  const isCustomer = valueOnPath(message.body, "sender", "type") === "customer";
  return {
    message: [
      {
        id: message.id,
        sender: { type: isCustomer ? "user" : "system" },
        conversation: { id: conversation.id },
        type: message.body.type,
        content: textOf(message.body.content),
        timeStamp: Date.parse(message.created),
      },
    ],
  };
};

/** What is posted to a callback, in the version of its role. */
const payloadOf = (
  version: unknown,
  message: StoredMessage,
  conversation: StoredConversation,
  switches: Switches,
): JsonObject =>
  version === "v1" ? v1(message, conversation) : v3(message, conversation, switches);

const missingRole = ({ applicationId, role, isInactive }: RecipientRole): string => {
  if (applicationId === "")
    return `the orchestration names no client application for the role ${role}`;
  return isInactive
    ? `what the orchestration names for the role ${role} is not active`
    : `the client application has no role ${role}`;
};

/** The role's own headers, and those that the service sets. */
const headersFor = (
  role: JsonObject,
  authorization: string | undefined,
): Record<string, string> => ({
  accept: "application/json",
  ...headersOf(listAt(role, "headers")),
  "content-type": "application/json",
  ...(authorization === undefined ? {} : { authorization }),
});

/** An address without what may be a credential. */
const addressForLog = (url: string): string => {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin === "null" ? "" : origin + pathname;
};

/** How one call of a callback ended. */
export interface CallbackOutcome {
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  /** Signs in again, with something newer than what was refused; there only where that may help. */
  readonly renew?: () => Promise<void>;
  /** Nobody is there to try again with. */
  readonly isHopeless?: true;
}

/** What the calls of callbacks need. */
export interface CallbackClientOptions {
  readonly store: Store;
  readonly conversations: ConversationStore;
  readonly switches: Switches;
  readonly faults: Faults;
  /** Milliseconds of real time in which a callback must answer. */
  readonly deadlineMs: number;
  /** Where a call to an address really goes. Default: there. */
  readonly route?: (address: string) => string;
}

/** Calls the callbacks of client applications. */
export class CallbackClient {
  readonly #outgoing: Outgoing;
  readonly #authentication: CallbackAuthentication;

  constructor(private readonly options: CallbackClientOptions) {
    this.#outgoing = new Outgoing(options.route);
    this.#authentication = new CallbackAuthentication(options, this.#outgoing);
  }

  /** Posts a message to the callback of a role, once; never fails. */
  async post(
    recipient: RecipientRole,
    message: StoredMessage,
    signal: AbortSignal,
  ): Promise<CallbackOutcome> {
    const { conversations, switches, faults, deadlineMs } = this.options;
    const role = roleOf(this.options, recipient);
    const conversation = conversations.get(message.conversationId);
    const callback = textOnPath(role, "callback") ?? "";
    const url = addressForLog(callback);
    if (!role || !conversation || recipient.isInactive)
      return { url, isHopeless: true, error: `undeliverable: ${missingRole(recipient)}` };
    const limits = { deadlineMs, signal };
    try {
      const authorization = await this.#authentication.headerFor(role, limits);
      const call = {
        ...limits,
        url: callback,
        method: "POST",
        headers: headersFor(role, authorization),
        body: JSON.stringify(payloadOf(role.version, message, conversation, switches)),
      };
      const send = (one: OutgoingCall) => this.#outgoing.call(one);
      const { status } = await callWithFault(faults.take("CALLBACK"), call, send);
      if (authorization === undefined) return { url, status };
      return { url, status, renew: () => this.#authentication.forget(role, authorization) };
    } catch (error) {
      return { url, error: error instanceof NoAnswer ? error.message : "the delivery failed" };
    }
  }

  /** Forgets all tokens. */
  reset(): void {
    this.#authentication.clear();
  }

  /** Ends all connections. */
  close(): void {
    this.#outgoing.close();
  }
}
