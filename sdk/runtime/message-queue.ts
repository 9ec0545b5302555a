import type { ReceivedMessage } from "./received-message.js";

/** So many messages wait in one conversation, and in all, before calls are put off. */
const mostInConversation = 1_000;
const mostInAll = 10_000;

/** Work that starts here starts after the caller has been answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * The service's ID of a message, else the sender's own within its conversation; undefined if it has
 * neither.
 */
export const findMessageKey = (message: ReceivedMessage): string | undefined => {
  const { id, messageId, conversationId } = message;
  if (id !== undefined) return JSON.stringify([id]);
  return messageId === undefined ? undefined : JSON.stringify([conversationId, messageId]);
};

/** Messages that wait for their work: in order within a conversation, conversations side by side. */
export class MessageQueue<R> {
  readonly #queues = new Map<string, { last: Promise<unknown>; waiting: number }>();
  readonly #pending = new Map<string, Promise<R>>();
  #waiting = 0;

  /** @param work must not fail */
  constructor(private readonly work: (message: ReceivedMessage) => Promise<R>) {}

  /**
   * Takes the messages of one call. Their work begins later, never at once. A message that waits
   * already is waited for if it comes again.
   *
   * @returns their results; undefined if too many wait in one of their conversations, or in all
   */
  add(messages: readonly ReceivedMessage[]): readonly Promise<R>[] | undefined {
    const isFull = ({ conversationId }: ReceivedMessage): boolean =>
      (this.#queues.get(conversationId)?.waiting ?? 0) >= mostInConversation;
    if (this.#waiting >= mostInAll || messages.some(isFull)) return undefined;
    return messages.map((message) => this.#join(message));
  }

  /** When all work is done, also what is added meanwhile. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(({ last }) => last));
    }
  }

  #join(message: ReceivedMessage): Promise<R> {
    const key = findMessageKey(message);
    if (key === undefined) return this.#enqueue(message);
    const pending = this.#pending.get(key);
    if (pending) return pending;
    const result = this.#enqueue(message).finally(() => this.#pending.delete(key));
    this.#pending.set(key, result);
    return result;
  }

  #enqueue(message: ReceivedMessage): Promise<R> {
    const { conversationId } = message;
    const queue = this.#queues.get(conversationId) ?? { last: nextTurn(), waiting: 0 };
    this.#queues.set(conversationId, queue);
    this.#waiting += 1;
    queue.waiting += 1;
    const result = queue.last
      .then(() => this.work(message))
      .finally(() => {
        this.#waiting -= 1;
        queue.waiting -= 1;
        if (queue.waiting === 0) this.#queues.delete(conversationId);
      });
    queue.last = result;
    return result;
  }
}
