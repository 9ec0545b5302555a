/** One try to deliver a message; no credentials. */
export interface DeliveryEntry {
  /** When the try began, on the emulator's clock. */
  readonly at: string;
  /** The callback without user name, password and query; empty where there is none. */
  readonly url: string;
  /** The sender's own id of the message; the service's where it gave none. */
  readonly messageId: string;
  readonly type: string;
  /** From 1; 0 where there was nowhere to deliver to. */
  readonly attempt: number;
  /** What the callback answered. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly error?: string;
}

const mostEntries = 10_000;

/** The last tries to deliver. */
export class DeliveryLog {
  #entries: DeliveryEntry[] = [];

  add(entry: DeliveryEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * mostEntries) this.#entries = this.#entries.slice(-mostEntries);
  }

  entries(): readonly DeliveryEntry[] {
    return this.#entries.slice(-mostEntries);
  }

  clear(): void {
    this.#entries = [];
  }
}

/** An address without what may be a credential. */
export const addressForLog = (url: string): string => {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin === "null" ? "" : origin + pathname;
};
