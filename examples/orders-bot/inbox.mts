import { EventEmitter, once } from "node:events";
import type { MessageType, ReceivedMessage } from "pulumi-conversation/runtime";
import type { SideName } from "./side.mts";

/** A message to wait for. */
export interface Expected {
  readonly conversationId: string;
  readonly type: MessageType;
  readonly from: SideName;
}

/** A message did not come in time. */
export class NothingCame extends Error {
  readonly expected: Expected;

  constructor(expected: Expected, patienceMs: number) {
    super(`No ${expected.type} arrived from the ${expected.from} within ${patienceMs / 1000} s.`);
    this.expected = expected;
  }
}

interface Failure {
  readonly reason: Error;
  /** Default: of every conversation. */
  readonly conversationId: string | undefined;
}

/** Messages that have arrived, in order, until they are read. */
export class Inbox {
  readonly #patienceMs: number;
  readonly #messages: ReceivedMessage[] = [];
  readonly #failures: Failure[] = [];
  readonly #arrivals = new EventEmitter();

  /** @param patienceMs longest wait for one message */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  put(message: ReceivedMessage): void {
    this.#messages.push(message);
    this.#arrivals.emit("change");
  }

  /** Ends the wait in a conversation: the expected message will not arrive. */
  fail(reason: Error, conversationId?: string): void {
    this.#failures.push({ reason, conversationId });
    this.#arrivals.emit("change");
  }

  /**
   * The next message of a type in a conversation; skips those before it.
   *
   * @throws NothingCame
   */
  async next(expected: Expected): Promise<ReceivedMessage> {
    const deadline = AbortSignal.timeout(this.#patienceMs);
    const { conversationId, type } = expected;
    for (;;) {
      this.#throwFailureOf(conversationId);
      const message = this.#messages.shift();
      if (message?.conversationId === conversationId && message.type === type) return message;
      if (!message) await this.#change(new NothingCame(expected, this.#patienceMs), deadline);
    }
  }

  #throwFailureOf(id: string): void {
    const failure = this.#failures.find(({ conversationId = id }) => conversationId === id);
    if (failure) throw failure.reason;
  }

  async #change(otherwise: NothingCame, signal: AbortSignal): Promise<void> {
    try {
      await once(this.#arrivals, "change", { signal });
    } catch {
      throw otherwise;
    }
  }
}
