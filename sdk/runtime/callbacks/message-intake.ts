import type { MessageType } from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import { ConversationQueues } from "./conversation-queues.js";
import { messageKey, type WorkResult } from "./message-work.js";

/** How many messages may wait. */
export interface WaitingLimits {
  /** In all. */
  readonly maxWaiting: number;
  /** In one conversation. */
  readonly maxWaitingPerConversation: number;
}

/** What became of the messages of one call. */
export interface Intake {
  /** Some were not taken, since too many wait in their conversation, or in all. */
  readonly full: boolean;
  /** Those that were taken. */
  readonly results: readonly Promise<WorkResult>[];
}

/** Takes messages over, and works on them in the order of each conversation. */
export interface MessageIntake<T extends MessageType> {
  take(messages: readonly ReceivedMessage<T>[]): Intake;
  idle(): Promise<void>;
}

/** A conversation, and its messages of one call. */
type Group<T extends MessageType> = readonly [string, readonly ReceivedMessage<T>[]];

/**
 * @param joins whether a message that waits already is waited for where it comes again; else it
 * queues once more, in case the first fails
 */
export const messageIntake = <T extends MessageType>(
  limits: WaitingLimits,
  work: (message: ReceivedMessage<T>) => Promise<WorkResult>,
  joins: boolean,
): MessageIntake<T> => {
  const queues = new ConversationQueues();
  const pending = new Map<string, Promise<WorkResult>>();

  const fits = (conversationId: string, count: number, before: number): boolean => {
    const { maxWaiting, maxWaitingPerConversation } = limits;
    const here = queues.waitingIn(conversationId);
    const inAll = queues.waiting + before + count;
    // A call that alone is longer than the limit gets through when nothing waits.
    if (queues.waiting + before === 0) return true;
    // As much again is kept for conversations in which nothing waits: others must not block them.
    if (here === 0) return inAll <= 2 * maxWaiting;
    return here + count <= maxWaitingPerConversation && inAll <= maxWaiting;
  };

  const queued = (message: ReceivedMessage<T>): Promise<WorkResult> => {
    const key = joins ? messageKey(message) : undefined;
    const known = key === undefined ? undefined : pending.get(key);
    if (known) return known;
    const result = queues.add(message.conversationId, () => work(message));
    if (key === undefined) return result;
    pending.set(key, result);
    return result.finally(() => pending.delete(key));
  };

  const isPending = (message: ReceivedMessage<T>): boolean =>
    joins && pending.has(messageKey(message) ?? "");

  const tooMany = (groups: readonly Group<T>[]): ReadonlySet<Group<T>> => {
    let before = 0;
    const full = groups.filter(([id, group]) => {
      const count = group.filter((message) => !isPending(message)).length;
      if (!fits(id, count, before)) return true;
      before += count;
      return false;
    });
    return new Set(full);
  };

  return {
    idle: () => queues.idle(),
    take: (messages) => {
      const groups = [...Map.groupBy(messages, ({ conversationId }) => conversationId)];
      const left = tooMany(groups);
      // All of the call comes again: what could not be told from its repeat then has to wait, too.
      const isLeft = (group: Group<T>): boolean =>
        left.has(group) ||
        (left.size > 0 && group[1].some((message) => messageKey(message) === undefined));
      const taken = groups.filter((group) => !isLeft(group)).flatMap(([, group]) => group);
      return { full: left.size > 0, results: taken.map(queued) };
    },
  };
};
