import { setMaxListeners } from "node:events";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { timestamp } from "../../clock.js";
import type { Switches } from "../../control/switches.js";
import type { Store } from "../../objects/store.js";
import type { Message } from "../conversation.js";
import type { Conversations } from "../conversations.js";
import { listAt, textAt } from "../json-path.js";
import { NoAnswer, Outgoing } from "../post.js";
import { type Recipient, roleOf } from "../routing.js";
import type { AlarmClock } from "./alarms.js";
import { CallbackAuthentication, headersOf } from "./callback-authentication.js";
import { callbackBody } from "./callback-body.js";
import { addressForLog, DeliveryLog } from "./delivery-log.js";

/** What the courier works with. */
export interface CourierOptions {
  readonly clock: AlarmClock;
  readonly store: Store;
  readonly conversations: Conversations;
  readonly switches: () => Switches;
  /** Real time in which a callback must answer. */
  readonly deadlineMs: number;
}

interface Parcel {
  readonly recipient: Recipient;
  readonly message: Message;
}

/** How one try ended. */
interface Outcome {
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  /** Signs in again, with something newer than what was refused; there only where that may help. */
  readonly renew?: () => Promise<void>;
  /** Nobody is there to try again with. */
  readonly isHopeless?: true;
}

/** Between the tries for one message, on the emulator's clock (assumed). */
const retrySpacingMs = 1_000;

/**
 * Delivers messages to the callbacks of client applications: in order for each conversation and
 * recipient, each message until the callback accepts it (2xx) or the tries are used up. What is
 * still to be delivered when the process ends is not made up for.
 */
export class Courier {
  readonly log = new DeliveryLog();
  readonly #options: CourierOptions;
  readonly #outgoing = new Outgoing();
  readonly #authentication: CallbackAuthentication;
  readonly #lanes = new Map<string, Parcel[]>();
  #era = newEra();

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#authentication = new CallbackAuthentication(options.store, this.#outgoing);
  }

  /** Takes a message on its way; never fails. */
  take(recipient: Recipient, message: Message): void {
    const key = [message.conversationId, recipient.applicationId, recipient.role].join(" ");
    const parcel = { recipient, message };
    const lane = this.#lanes.get(key);
    if (lane) {
      lane.push(parcel);
      return;
    }
    const fresh = [parcel];
    this.#lanes.set(key, fresh);
    void this.#empty(key, fresh, this.#era.signal);
  }

  /** Forgets what is still to be delivered, the log and all tokens. */
  reset(): void {
    this.#era.abort();
    this.#era = newEra();
    this.#lanes.clear();
    this.#authentication.clear();
    this.log.clear();
  }

  /** Ends all deliveries and connections. */
  close(): void {
    this.reset();
    this.#outgoing.close();
  }

  async #empty(key: string, lane: Parcel[], signal: AbortSignal): Promise<void> {
    for (let parcel = lane[0]; parcel && !signal.aborted; parcel = lane[0]) {
      await this.#deliver(parcel, signal);
      lane.shift();
    }
    if (!signal.aborted) this.#lanes.delete(key);
  }

  async #deliver(parcel: Parcel, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let due = clock.now();
    let retries = 0;
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      const begun = clock.now();
      const outcome = await this.#try(parcel, signal);
      if (signal.aborted) return;
      this.#note(parcel.message, outcome, attempt, begun);
      const { status = 0, renew, isHopeless } = outcome;
      if (isHopeless || (status >= 200 && status <= 299)) return;
      if (status === 401 && renew && !isRenewed) {
        isRenewed = true;
        await renew();
        continue;
      }
      if (retries >= this.#options.switches().deliveryRetries) return;
      retries += 1;
      // Counted from when the try was due: one long step of a manual clock makes all tries due.
      due += clock.now() - begun + retrySpacingMs;
      await this.#until(due, signal);
    }
  }

  async #try({ recipient, message }: Parcel, signal: AbortSignal): Promise<Outcome> {
    const { store, conversations, switches, deadlineMs } = this.#options;
    const role = roleOf(store, recipient, switches().platformName);
    const conversation = conversations.get(message.conversationId);
    const callback = textAt(role, "callback") ?? "";
    const url = addressForLog(callback);
    if (!role || !conversation)
      return { url, isHopeless: true, error: `undeliverable: ${missing(recipient)}` };
    const terms = { deadlineMs, signal };
    try {
      const authorization = await this.#authentication.headerFor(role, terms);
      const body = callbackBody(role.version, message, conversation, switches());
      const headers = headersFor(role, authorization);
      const answer = await this.#outgoing.call({
        ...terms,
        url: callback,
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const renewal =
        authorization === undefined ? {} : { renew: this.#renewal(role, authorization) };
      return { url, status: answer.status, ...renewal };
    } catch (error) {
      return { url, error: error instanceof NoAnswer ? error.message : "the delivery failed" };
    }
  }

  #renewal(role: JsonObject, authorization: string): () => Promise<void> {
    return () => this.#authentication.forget(role, authorization);
  }

  #note(
    message: Message,
    { url, status, error, isHopeless }: Outcome,
    attempt: number,
    begun: number,
  ) {
    this.log.add({
      at: timestamp(begun),
      url,
      messageId: message.messageId,
      type: message.type,
      attempt: isHopeless ? 0 : attempt,
      ...(status === undefined ? {} : { status }),
      ...(error === undefined ? {} : { error }),
    });
  }

  #until(time: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        takeBack();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const takeBack = this.#options.clock.at(time, end);
      signal.addEventListener("abort", end);
    });
  }
}

/** Until the next reset. Every delivery on its way listens to it. */
const newEra = (): AbortController => {
  const era = new AbortController();
  setMaxListeners(0, era.signal);
  return era;
};

const missing = ({ applicationId, role }: Recipient): string =>
  applicationId === ""
    ? `the orchestration names no client application for the role ${role}`
    : `the client application has no role ${role}`;

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
