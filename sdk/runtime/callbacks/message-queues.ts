import type { MessageType } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import { messageKey, type WorkResult } from "./message-work.js";

/** How messages wait, and for what. */
export interface QueueOptions<T extends MessageType> {
  /** So many messages may wait in all. */
  readonly maxWaiting: number;
  /** So many may wait in one conversation. */
  readonly maxWaitingPerConversation: number;
  /** Works on a message. Must not fail. */
  readonly work: (message: ReceivedMessage<T>) => Promise<WorkResult>;
  /**
   * Whether a message that waits already is waited for where it comes again; else it queues once
   * more, in case the first fails.
   */
  readonly joins: boolean;
}

/** What became of the messages of one call. */
export interface Queued {
  /** Some were not taken, since too many wait in their conversation, or in all. */
  readonly full: boolean;
  /** Of those that were taken. */
  readonly results: readonly Promise<WorkResult>[];
}

/** The messages of one conversation that wait. */
interface Queue {
  last: Promise<unknown>;
  waiting: number;
}

/** A conversation, and its messages of one call. */
type Group<T extends MessageType> = readonly [string, readonly ReceivedMessage<T>[]];

/** What begins here begins after whoever called was answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Messages that wait for their work: in order within a conversation, conversations side by side. */
export class MessageQueues<T extends MessageType> {
  readonly #queues = new Map<string, Queue>();
  readonly #pending = new Map<string, Promise<WorkResult>>();
  #waiting = 0;

  constructor(private readonly options: QueueOptions<T>) {}

  /** Takes the messages of one call, as far as they fit. Their work begins later, never at once. */
  add(messages: readonly ReceivedMessage<T>[]): Queued {
    const groups = [...Map.groupBy(messages, ({ conversationId }) => conversationId)];
    const left = this.#tooMany(groups);
    // All of the call comes again: what could not be told from its repeat then has to wait, too.
    const isLeft = (group: Group<T>): boolean =>
      left.has(group) ||
      (left.size > 0 && group[1].some((message) => messageKey(message) === undefined));
    const taken = groups.filter((group) => !isLeft(group)).flatMap(([, group]) => group);
    return { full: left.size > 0, results: taken.map((message) => this.#joined(message)) };
  }

  /** When all work is done, also what is added meanwhile. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(({ last }) => last));
    }
  }

  #tooMany(groups: readonly Group<T>[]): ReadonlySet<Group<T>> {
    let before = 0;
    const full = groups.filter(([id, group]) => {
      const isPending = (message: ReceivedMessage<T>): boolean =>
        this.options.joins && this.#pending.has(messageKey(message) ?? "");
      const count = group.filter((message) => !isPending(message)).length;
      if (!this.#fits(id, count, before)) return true;
      before += count;
      return false;
    });
    return new Set(full);
  }

  #fits(conversationId: string, count: number, before: number): boolean {
    const { maxWaiting, maxWaitingPerConversation } = this.options;
    const here = this.#queues.get(conversationId)?.waiting ?? 0;
    const inAll = this.#waiting + before + count;
    // A call that alone is longer than the limit gets through when nothing waits.
    if (this.#waiting + before === 0) return true;
    // As much again is kept for conversations in which nothing waits: others must not block them.
    if (here === 0) return inAll <= 2 * maxWaiting;
    return here + count <= maxWaitingPerConversation && inAll <= maxWaiting;
  }

  #joined(message: ReceivedMessage<T>): Promise<WorkResult> {
    const key = this.options.joins ? messageKey(message) : undefined;
    if (key === undefined) return this.#queued(message);
    const known = this.#pending.get(key);
    if (known) return known;
    const result = this.#queued(message);
    this.#pending.set(key, result);
    return result.finally(() => this.#pending.delete(key));
  }

  #queued(message: ReceivedMessage<T>): Promise<WorkResult> {
    const { conversationId } = message;
    const queue = this.#queues.get(conversationId) ?? { last: nextTurn(), waiting: 0 };
    this.#queues.set(conversationId, queue);
    this.#waiting += 1;
    queue.waiting += 1;
    const result = queue.last
      .then(() => this.options.work(message))
      .finally(() => {
        this.#waiting -= 1;
        queue.waiting -= 1;
        if (queue.waiting === 0) this.#queues.delete(conversationId);
      });
    queue.last = result;
    return result;
  }
}
