import type { ReceivedMessage } from "./received-message.js";

/** The service's id of a message, else the sender's own within its conversation. */
const keyOf = ({ id, messageId, conversationId }: ReceivedMessage): string | undefined => {
  if (id !== undefined) return JSON.stringify([id]);
  return messageId === undefined ? undefined : JSON.stringify([conversationId, messageId]);
};

/** Remembers which messages came already: the last `most` of them, those seen longest ago go first. */
export class SeenMessages {
  readonly #most: number;
  readonly #keys = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a message has come before; remembers it. One without any id is always new. */
  isRepeat(message: ReceivedMessage): boolean {
    const key = keyOf(message);
    if (key === undefined) return false;
    const known = this.#keys.delete(key);
    this.#keys.add(key);
    for (const oldest of this.#keys) {
      if (this.#keys.size <= this.#most) break;
      this.#keys.delete(oldest);
    }
    return known;
  }
}
