import type { SenderKind } from "../../provider/resources/message-types.js";
import { RecentEntries } from "../service/calls.js";
import { type EmulatorClock, timestamp } from "../service/clock.js";
import { CallbackClient, type CallbackClientOptions } from "./callbacks.js";
import type { StoredMessage, StoredStatus } from "./conversation-store.js";
import { type DeliveryFailure, deliveryFailures } from "./delivery-failures.js";
import type { RecipientRole } from "./recipients.js";

interface Delivery {
  readonly recipient: RecipientRole;
  readonly message: StoredMessage;
}

/** One attempt to deliver a message, without credentials. */
export interface DeliveryEntry {
  /** Start of the attempt, on the emulator's clock. */
  readonly at: string;
  /** The callback URL without user name, password, or query; empty if there is none. */
  readonly url: string;
  /** The recipient's role, such as `custom_bot`. */
  readonly recipient: SenderKind;
  /** The sender's own ID for the message; the service's ID if the sender provided none. */
  readonly messageId: string;
  readonly type: string;
  /** Number of the attempt, starting at 1; 0 if there was no recipient. */
  readonly attempt: number;
  /** HTTP status of the callback's response. */
  readonly status?: number;
  /** Why there was no response. */
  readonly error?: string;
}

export interface DeliveryOptions extends CallbackClientOptions {
  /** Called when the last attempt to deliver a message has failed. */
  readonly onUndelivered?: (lastAttempt: ShownDelivery) => void;
}

/** An attempt as the page lists it. */
export interface ShownDelivery extends DeliveryEntry {
  readonly conversationId: string;
  /** Number of the delivery that the attempt belongs to: one message to one recipient. */
  readonly delivery: number;
  /** Why the attempt failed, and whether another follows; omitted if it succeeded. */
  readonly failure?: DeliveryFailure & { readonly fault?: string; readonly isRetried: boolean };
}

/** What an attempt makes of its message. */
const statusAfter = ({ failure, attempt }: ShownDelivery): StoredStatus => {
  if (!failure) return "sent";
  if (failure.isRetried) return "retryInProgress";
  return attempt === 0 ? "skipped" : "failed";
};

/** Between the tries for one message, on the emulator's clock (assumed). */
const retrySpacingMs = 1_000;

/** The messages of one conversation that one recipient has yet to get. */
interface Queue {
  readonly deliveries: Delivery[];
  /** One per queue: a shared one would get slower with every listener. */
  readonly controller: AbortController;
}

/**
 * Delivers messages to the callbacks of client applications, in order for each conversation and
 * recipient. Retries each message until the callback accepts it (2xx) or no attempts are left.
 * Pending deliveries are lost when the process ends.
 */
export class Deliveries {
  readonly log = new RecentEntries<ShownDelivery>(10_000);
  readonly #callbacks: CallbackClient;
  readonly #queues = new Map<string, Queue>();
  #begun = 0;

  constructor(
    private readonly clock: EmulatorClock,
    private readonly options: DeliveryOptions,
  ) {
    this.#callbacks = new CallbackClient(options);
  }

  /** Starts the delivery of a message. Never fails. */
  add(recipient: RecipientRole, message: StoredMessage): void {
    const key = [message.conversationId, recipient.applicationId, recipient.role].join(" ");
    const delivery = { recipient, message };
    const queue = this.#queues.get(key);
    if (queue) {
      queue.deliveries.push(delivery);
      return;
    }
    const fresh = { deliveries: [delivery], controller: new AbortController() };
    this.#queues.set(key, fresh);
    void this.#deliverAll(key, fresh);
  }

  /** Discards pending deliveries, the log, and all tokens. */
  reset(): void {
    for (const { controller } of this.#queues.values()) controller.abort();
    this.#queues.clear();
    this.#callbacks.reset();
    this.log.clear();
  }

  /** Stops all deliveries and closes all connections. */
  close(): void {
    this.reset();
    this.#callbacks.close();
  }

  async #deliverAll(key: string, { deliveries, controller }: Queue): Promise<void> {
    const { signal } = controller;
    for (let next = deliveries[0]; next && !signal.aborted; next = deliveries[0]) {
      await this.#deliver(next, signal);
      deliveries.shift();
    }
    if (!signal.aborted) this.#queues.delete(key);
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { recipient, message } = delivery;
    const { switches, conversations, onUndelivered } = this.options;
    this.#begun += 1;
    const number = this.#begun;
    let due = this.clock.now();
    let retries = 0;
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      const begun = this.clock.now();
      const { renew, failure, ...answer } = await this.#callbacks.post(recipient, message, signal);
      if (signal.aborted) return;
      const isHopeless = failure === deliveryFailures.noRecipient;
      const renewed = answer.status === 401 && !isRenewed ? renew : undefined;
      const hasRetries = !isHopeless && retries < switches.deliveryRetries;
      const isRetried = renewed !== undefined || hasRetries;
      const entry: ShownDelivery = {
        at: timestamp(begun),
        ...answer,
        recipient: recipient.role,
        messageId: message.messageId,
        type: message.type,
        attempt: isHopeless ? 0 : attempt,
        conversationId: message.conversationId,
        delivery: number,
        ...(failure === undefined ? {} : { failure: { ...failure, isRetried } }),
      };
      this.log.add(entry);
      conversations.mark(message, statusAfter(entry));
      if (!failure) return;
      if (renewed) {
        isRenewed = true;
        await renewed();
        continue;
      }
      if (!hasRetries) return onUndelivered?.(entry);
      retries += 1;
      // Counted from when the try was due: one long step of a manual clock makes all tries due.
      due += this.clock.now() - begun + retrySpacingMs;
      await this.#until(due, signal);
    }
  }

  #until(time: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.clock.schedule(time, end);
      signal.addEventListener("abort", end);
    });
  }
}
