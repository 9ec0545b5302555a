import { clientApplication } from "../../provider/resources/client-application.js";
import { RecentEntries, type WithSubjects } from "../http/call-log.js";
import { type EmulatorClock, timestamp } from "../service/clock.js";
import type { Switches } from "../service/switches.js";
import {
  CallbackClient,
  type CallbackClientOptions,
  type CallbackFailure,
  type CallbackOutcome,
} from "./callback-client.js";
import type { StoredMessage } from "./conversation-store.js";
import { textOnPath } from "./messages.js";
import { type RecipientRole, roleOf } from "./recipients.js";

/** An email that the service would send. The emulator only records it. */
export interface NotificationMail {
  /** Time of the email, on the emulator's clock. */
  readonly at: string;
  /** The role's `notificationEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /**
   * The sender's own ID for the undelivered message; the service's ID if the sender provided none.
   */
  readonly messageId: string;
}

/** An email as the page lists it. */
export interface ShownMail extends NotificationMail, WithSubjects {}

/** Notifies those who look after a callback that it cannot be reached (public reference; how often is assumed). */
class Mailbox {
  readonly mails = new RecentEntries<ShownMail>(1_000);
  /** Roles whose callback could not be reached last time. */
  readonly #unreached = new Set<string>();

  /** @param recipient the role of the client application, as one text */
  failed(recipient: string, mail: ShownMail, when: Switches["notificationMails"]): void {
    const isFirst = !this.#unreached.has(recipient);
    this.#unreached.add(recipient);
    if (when === "each" || (when === "first" && isFirst)) this.mails.add(mail);
  }

  reached(recipient: string): void {
    this.#unreached.delete(recipient);
  }

  clear(): void {
    this.mails.clear();
    this.#unreached.clear();
  }
}

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

/** Options for deliveries. */
export interface DeliveryOptions extends CallbackClientOptions {
  /** Called when the last attempt to deliver a message has failed. */
  readonly onUndelivered?: (lastAttempt: ShownDelivery) => void;
}

/** An attempt as the page lists it. */
export interface ShownDelivery extends DeliveryEntry, WithSubjects {
  /** Number of the delivery that the attempt belongs to: one message to one recipient. */
  readonly delivery: number;
  /** Why the attempt failed, and whether another follows; omitted if it succeeded. */
  readonly failure?: CallbackFailure & { readonly isRetried: boolean };
}

/** What an attempt, and the email about it, are about. */
const subjectsOf = ({ recipient, message }: Delivery): readonly string[] => [
  `conversations/${message.conversationId}`,
  ...(recipient.applicationId === ""
    ? []
    : [`${clientApplication.collection}/${recipient.applicationId}`]),
  `messages/${message.messageId}`,
];

const keyOf = ({ applicationId, role }: RecipientRole): string => `${applicationId} ${role}`;

/** Between the tries for one message, on the emulator's clock (assumed). */
const retrySpacingMs = 1_000;

/** What an attempt's outcome does not say. */
interface AttemptTerms {
  /** Number of the delivery. */
  readonly number: number;
  readonly attempt: number;
  /** Start of the attempt. */
  readonly begun: number;
  readonly isRetried: boolean;
}

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
  readonly mailbox = new Mailbox();
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
    const key = `${message.conversationId} ${keyOf(recipient)}`;
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

  /** Discards pending deliveries, the log, the emails, and all tokens. */
  reset(): void {
    for (const { controller } of this.#queues.values()) controller.abort();
    this.#queues.clear();
    this.#callbacks.reset();
    this.log.clear();
    this.mailbox.clear();
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
    this.#begun += 1;
    const number = this.#begun;
    let due = this.clock.now();
    let retries = 0;
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      const begun = this.clock.now();
      const outcome = await this.#callbacks.post(recipient, message, signal);
      if (signal.aborted) return;
      const { status, renew, failure } = outcome;
      const isHopeless = failure?.cause === "noRecipient";
      const renewed = status === 401 && !isRenewed ? renew : undefined;
      const hasRetries = !isHopeless && retries < this.options.switches.deliveryRetries;
      const entry = this.#note(delivery, outcome, {
        number,
        attempt: isHopeless ? 0 : attempt,
        begun,
        isRetried: renewed !== undefined || hasRetries,
      });
      if (!failure) return this.mailbox.reached(keyOf(recipient));
      if (renewed) {
        isRenewed = true;
        await renewed();
        continue;
      }
      if (!hasRetries) return this.#notify(delivery, entry);
      retries += 1;
      // Counted from when the try was due: one long step of a manual clock makes all tries due.
      due += this.clock.now() - begun + retrySpacingMs;
      await this.#until(due, signal);
    }
  }

  #note(
    delivery: Delivery,
    { url, status, error, failure }: CallbackOutcome,
    { number, attempt, begun, isRetried }: AttemptTerms,
  ): ShownDelivery {
    const { messageId, type } = delivery.message;
    const entry = {
      at: timestamp(begun),
      url,
      messageId,
      type,
      attempt,
      ...(status === undefined ? {} : { status }),
      ...(error === undefined ? {} : { error }),
      subjects: subjectsOf(delivery),
      delivery: number,
      ...(failure === undefined ? {} : { failure: { ...failure, isRetried } }),
    };
    this.log.add(entry);
    return entry;
  }

  /**
   * Reports an undelivered message after the last attempt, and records any email to the role's
   * `notificationEmail`.
   */
  #notify(delivery: Delivery, lastAttempt: ShownDelivery): void {
    this.options.onUndelivered?.(lastAttempt);
    const { recipient, message } = delivery;
    const { url, status, error } = lastAttempt;
    const to = textOnPath(roleOf(this.options, recipient), "notificationEmail");
    if (to === undefined) return;
    const { messageId, type } = message;
    const reason = error ?? `the callback responded with ${status}`;
    const mail = {
      at: timestamp(this.clock.now()),
      to,
      subject: `The callback for the role ${recipient.role} cannot be reached`,
      text: `The service could not deliver message ${messageId} (${type}) to ${url}: ${reason}. The service will not try again.`,
      messageId,
      subjects: subjectsOf(delivery),
    };
    this.mailbox.failed(keyOf(recipient), mail, this.options.switches.notificationMails);
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
