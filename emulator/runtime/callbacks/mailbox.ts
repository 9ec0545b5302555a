import { RecentEntries } from "../../recent-entries.js";

/** A mail that the service would have sent: nothing leaves this machine. */
export interface NotificationMail {
  /** On the emulator's clock. */
  readonly at: string;
  /** The `notificationEmail` of the role. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The sender's own id of the message that could not be delivered; the service's where it gave none. */
  readonly messageId: string;
}

/** What could not be delivered to a role. */
export interface FailedDelivery {
  readonly at: string;
  readonly to: string;
  readonly role: string;
  readonly url: string;
  readonly messageId: string;
  readonly type: string;
  readonly reason: string;
}

const mailAbout = ({ at, to, role, url, messageId, type, reason }: FailedDelivery) => ({
  at,
  to,
  subject: `The callback of the role ${role} cannot be reached`,
  text: `The message ${messageId} (${type}) could not be delivered to ${url}: ${reason}. It is not tried again.`,
  messageId,
});

/** Tells those who look after a callback that it cannot be reached (public reference; how often is assumed). */
export class Mailbox {
  readonly mails = new RecentEntries<NotificationMail>(1_000);
  /** Roles whose callback could not be reached the last time. */
  readonly #unreached = new Set<string>();

  /** @param recipient the role of the client application, as one text */
  failed(recipient: string, delivery: FailedDelivery, when: "each" | "first" | "none"): void {
    const isFirst = !this.#unreached.has(recipient);
    this.#unreached.add(recipient);
    if (when === "each" || (when === "first" && isFirst)) this.mails.add(mailAbout(delivery));
  }

  reached(recipient: string): void {
    this.#unreached.delete(recipient);
  }

  clear(): void {
    this.mails.clear();
    this.#unreached.clear();
  }
}
