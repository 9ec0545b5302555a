import type { AssertionError } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { DeliveryEntry, Emulator } from "../../emulator/index.js";
import { withoutUndefined } from "../../provider/kernel/json.js";
import { abbreviated } from "../../provider/kernel/text.js";
import type {
  AnyMessageType,
  ConversationSide,
  SenderKind,
} from "../../provider/resources/message-types.js";
import type { ConversationClient } from "../runtime/connect.js";
import type {
  Customer,
  FirstMessage,
  Message,
  NewConversation,
  OtherMessage,
  Reply,
  Sender,
} from "../runtime/message.js";
import type { Sent } from "../runtime/messages.js";
import type { Party, ReceivedMessage } from "../runtime/received-message.js";
import { createAssertionError, findMismatches, type HubRecords, shown } from "./checks.js";

/** Between two looks, in milliseconds of real time. */
const lookEveryMs = 10;

/** Time on the emulator's clock, which advances while tests wait. */
export class EmulatedTime {
  #passedMs = 0;
  #realMs = performance.now();
  #waiting = 0;

  /** @param isManual whether the clock stands still by itself */
  constructor(
    private readonly emulator: Pick<Emulator, "advance">,
    private readonly isManual: boolean,
  ) {}

  /** Returns a time in milliseconds, for measuring intervals on the emulator's clock. */
  now(): number {
    return this.isManual ? this.#passedMs : performance.now();
  }

  /** Advances a manual clock. @throws Error on the real clock */
  advance(ms: number): void {
    this.emulator.advance(ms);
    this.#passedMs += ms;
  }

  /** Lets a manual clock follow real time during an operation. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isManual) return work();
    this.#waiting += 1;
    if (this.#waiting === 1) this.#realMs = performance.now();
    const timer = setInterval(() => this.#catchUp(), lookEveryMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      this.#catchUp();
      this.#waiting -= 1;
    }
  }

  /**
   * Polls until a value appears or time is up.
   *
   * @returns undefined after the time limit
   */
  async until<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined> {
    const first = await look();
    if (first !== undefined) return first;
    return this.during(async () => {
      for (const begun = this.now(); this.now() - begun <= withinMs; ) {
        await pause(lookEveryMs);
        const seen = await look();
        if (seen !== undefined) return seen;
      }
      return look();
    });
  }

  #catchUp(): void {
    const real = performance.now();
    const passed = real - this.#realMs;
    this.#realMs = real;
    if (passed > 0) this.advance(passed);
  }
}

/** The outcome of delivering a message to one of its recipients. */
export interface Reached {
  /** The recipient. */
  readonly recipient: Party;
  /** Whether the callback accepted the message. Absent while the message seems to be in transit. */
  readonly isReached?: boolean;
  /** The callback's response, or why nothing was delivered; empty if unknown. */
  readonly why: string;
}

/** A message, and the outcome for each of its recipients. */
export interface ReachedMessage {
  /** The message as it appears in the conversation. */
  readonly message: ReceivedMessage;
  /** The outcome for every recipient. */
  readonly reached: readonly Reached[];
}

const isAccepted = ({ status = 0 }: DeliveryEntry): boolean => status >= 200 && status <= 299;

/**
 * The messages of a conversation, and whom each reached.
 *
 * @param finalTries after so many tries the service gives a delivery up
 */
const readReachedMessages = async (
  records: HubRecords,
  conversationId: string,
  finalTries: number,
): Promise<readonly ReachedMessage[]> => {
  const messages = await records.messages(conversationId);
  const deliveries = await records.deliveries();
  const findReached = (message: ReceivedMessage, recipient: Party): Reached => {
    const tries = deliveries.filter(
      (each) =>
        each.messageId === message.messageId &&
        each.recipient === recipient.kind &&
        (!message.created || Date.parse(each.at) >= message.created.getTime()),
    );
    const taken = tries.find(isAccepted);
    if (taken) return { recipient, isReached: true, why: `${taken.status}` };
    const isOver = tries.some(({ attempt }) => attempt === 0 || attempt >= finalTries);
    const answers = tries.map(({ status, error }) => status ?? error ?? "no response");
    const why = [...new Set(answers)].join(", ");
    return { recipient, why, ...(isOver ? { isReached: false } : {}) };
  };
  return messages.map((message) => ({
    message,
    reached: message.recipients.map((recipient) => findReached(message, recipient)),
  }));
};

/** A party's kind and name, such as `custom_bot "orders-bot"`, or only its kind. */
const participantText = ({ kind, name }: Party): string =>
  name === undefined ? kind : `${kind} ${JSON.stringify(name)}`;

const longest = 120;

/** What a message says, in one line, whatever its type. */
const saidText = ({ text, html, json, xml, attachments }: ReceivedMessage): string => {
  const files = attachments.map(({ name, id }) => `+ ${name ?? id ?? "a file"}`);
  const said = text ?? html ?? json ?? xml ?? "";
  return [abbreviated(said.replaceAll("\n", " "), longest), ...files].filter(Boolean).join(" ");
};

const reachedText = ({ recipient, isReached, why }: Reached): string => {
  const whom = `→ ${participantText(recipient)}`;
  if (isReached) return whom;
  if (isReached === undefined) return `${whom} (in transit${why === "" ? "" : `: ${why}`})`;
  return `${whom} (not reached: ${why})`;
};

/** A message as a line for people: who said what, and whom it reached. */
const messageLine = ({ message, reached }: ReachedMessage): string => {
  const { sender, type } = message;
  const words = [participantText(sender), type, saidText(message), ...reached.map(reachedText)];
  return words.filter((word) => word !== "").join("  ");
};

/** The expected message. Omitted members can have any value. */
export interface ExpectedMessage {
  /** The sender: one side of the conversation, or one kind of sender. */
  readonly from?: ConversationSide | SenderKind;
  /** The sender's display name. */
  readonly name?: string | RegExp;
  /** Message type, such as `text`. */
  readonly type?: AnyMessageType;
  /** The complete text, or a pattern that it must match. */
  readonly text?: string | RegExp;
  /** Expected members of JSON content; in objects, other members are ignored. */
  readonly content?: object;
  /**
   * Time limit for the message to arrive after the call to `expect`, on the emulator's clock.
   * Default: 5,000 ms.
   */
  readonly withinMs?: number;
  /** Whether the recipients must have accepted the message. Default: true. */
  readonly reached?: boolean;
}

const isFrom = (kind: string, from: ExpectedMessage["from"]): boolean =>
  from === undefined || kind === from || kind.endsWith(`_${from}`);

/** Whether a message is one that is expected, whatever became of it. */
const isLike = (message: ReceivedMessage, expected: ExpectedMessage): boolean => {
  const { from, name, type, text, content } = expected;
  if (!isFrom(message.sender.kind, from)) return false;
  if (type !== undefined && message.type !== type) return false;
  const sender = name === undefined ? undefined : { name };
  return findMismatches(withoutUndefined({ text, content, sender }), message).length === 0;
};

/** What is expected, for people: `text from the bot with the text /tomorrow/`. */
const expectedText = ({ from, name, type, text, content }: ExpectedMessage): string => {
  return [
    type ?? "message",
    from === undefined ? "" : `from ${from.includes("_") ? from : `the ${from}`}`,
    name === undefined ? "" : `named ${shown(name)}`,
    text === undefined ? "" : `with the text ${shown(text)}`,
    content === undefined ? "" : `with the content ${shown(content)}`,
  ]
    .filter(Boolean)
    .join(" ");
};

type WithoutFrame<M> = M extends unknown ? Omit<M, "sender" | "conversation"> : never;

/** A message in a test: its text, or the complete message except its sender and conversation. */
export type SaidMessage = string | WithoutFrame<Message | OtherMessage>;

/** Options for starting a conversation in a test. */
export interface TestConversationStart {
  /** Type of the channel, such as `custom.web`. */
  readonly channel: string;
  /** The account's address on the channel. */
  readonly address: string;
  /** The customer: a name, or more details. Default: `Ada`. */
  readonly customer?: string | Customer;
  /** Additional details of the new conversation, such as `entryPoint`. Default: none. */
  readonly more?: Omit<NewConversation, "account" | "customer">;
}

/** A conversation in a test: sends the test's messages, and expects replies from others. */
export interface TestConversation {
  /** The service's ID for the conversation; undefined before the first message. */
  readonly id: string | undefined;
  /**
   * Sends a message; the first one starts the conversation.
   *
   * @param sender default: the customer
   * @returns the service's response
   * @throws ConversationError if the service refuses the message, or if the sender may not send it
   *
   * @example
   * await ada.say("Where is my order?");
   * await ada.say("One moment", { kind: "custom_agent", name: "Sam" });
   */
  say(message: SaidMessage, sender?: Sender): Promise<Sent>;
  /**
   * Waits for a matching message from someone else, skipping other messages before it. Considers
   * only messages after the one that `expect` last returned.
   *
   * @returns the message
   * @throws AssertionError if no message matches in time, or if it does not reach its recipients;
   * with the conversation so far
   *
   * @example
   * await ada.expect({ from: "bot", type: "text", text: /your order/i, withinMs: 2_000 });
   */
  expect(expected: ExpectedMessage): Promise<ReceivedMessage>;
  /**
   * Expects that no matching message is sent within a time limit, on the emulator's clock.
   *
   * @throws AssertionError if such a message is sent, with the conversation so far
   *
   * @example
   * await ada.expectNone({ from: "bot", withinMs: 1_000 });
   */
  expectNone(expected: ExpectedMessage): Promise<void>;
  /**
   * Waits until every message has reached its recipients or failed, and all of the test's handlers
   * have finished.
   *
   * @param withinMs time limit, on the emulator's clock. Default: 5,000
   * @throws AssertionError if that takes longer, with the conversation so far
   */
  idle(withinMs?: number): Promise<void>;
  /**
   * Returns every message so far with its recipients, in order. Fails if the emulator is closed.
   */
  messages(): Promise<readonly ReachedMessage[]>;
  /** Returns every message so far as readable lines. Fails if the emulator is closed. */
  transcript(): Promise<string>;
}

/** What a conversation needs of the stack that it runs on. */
interface ConversationMeans {
  readonly client: ConversationClient;
  readonly records: HubRecords;
  readonly time: EmulatedTime;
  /** After so many tries the service gives a delivery up. */
  readonly finalTries: number;
  /** Those who answer callbacks in the test. */
  readonly handlers: {
    /** When they have done their work. */
    idle(): Promise<void>;
    /** What they threw in a conversation. */
    failures(conversationId: string | undefined): readonly string[];
  };
}

// The compiler cannot join the two halves of a message again; the client checks the whole.
const firstMessage = z.custom<FirstMessage>();
const replyMessage = z.custom<Reply>();

const defaultWithinMs = 5_000;

/** So long nothing may happen, in milliseconds of real time, for a conversation to be idle. */
const quietMs = 100;

const isOver = ({ reached }: ReachedMessage): boolean =>
  reached.every(({ isReached }) => isReached !== undefined);

/** Returns a conversation that has not started yet. */
export const testConversation = (
  { client, records, time, finalTries, handlers }: ConversationMeans,
  start: TestConversationStart,
): TestConversation => {
  const { customer: whom = "Ada" } = start;
  const customer: Customer = typeof whom === "string" ? { name: whom } : whom;
  const own = new Set<string | undefined>();
  let id: string | undefined;
  let seen = 0;

  const messages = async (): Promise<readonly ReachedMessage[]> =>
    id === undefined ? [] : readReachedMessages(records, id, finalTries);

  const transcript = async (): Promise<string> => (await messages()).map(messageLine).join("\n");

  const failure = async (said: string, operator: string): Promise<AssertionError> => {
    const lines = await transcript();
    const so = lines === "" ? "There are no messages." : `The conversation so far:\n${lines}`;
    const failed = handlers.failures(id).map((line) => `A handler in the test failed: ${line}`);
    return createAssertionError([said, so, ...failed], operator);
  };

  /** The first matching message from somebody else, and its position. */
  const find = async (expected: ExpectedMessage) => {
    const all = await messages();
    const place = all.findIndex(
      ({ message }, at) => at >= seen && !own.has(message.id) && isLike(message, expected),
    );
    const found = all[place];
    return found && { found, place };
  };

  return {
    get id() {
      return id;
    },
    say: async (said, sender = { kind: "customer", name: customer.name }) => {
      const body = typeof said === "string" ? { type: "text", text: said } : said;
      const account = { channel: start.channel, address: start.address };
      const sent =
        id === undefined
          ? await client.messages.start(
              firstMessage.parse({
                ...body,
                sender,
                conversation: { ...start.more, account, customer },
              }),
            )
          : await client.messages.reply(id, replyMessage.parse({ ...body, sender }));
      id = sent.conversationId;
      for (const message of sent.messages) own.add(message.id);
      return sent;
    },
    expect: async (expected) => {
      const { withinMs = defaultWithinMs, reached = true } = expected;
      const wanted = await time.until(async () => {
        const one = await find(expected);
        return one && (!reached || isOver(one.found)) ? one : undefined;
      }, withinMs);
      const one = wanted ?? (await find(expected));
      const within = `within ${withinMs / 1000} s`;
      if (!one) throw await failure(`There was no ${expectedText(expected)} ${within}.`, "expect");
      if (reached && !one.found.reached.every(({ isReached }) => isReached))
        throw await failure(
          `The ${expectedText(expected)} was sent, but did not reach its recipients ${within}.`,
          "expect",
        );
      seen = one.place + 1;
      return one.found.message;
    },
    expectNone: async (expected) => {
      const { withinMs = defaultWithinMs } = expected;
      const one = await time.until(() => find(expected), withinMs);
      if (one)
        throw await failure(
          `Expected no ${expectedText(expected)}, but there was one.`,
          "expectNone",
        );
    },
    idle: async (withinMs = defaultWithinMs) => {
      let quiet = { messages: -1, since: 0 };
      const rested = await time.until(async () => {
        await handlers.idle();
        const all = await messages();
        if (all.length !== quiet.messages || !all.every(isOver))
          quiet = { messages: all.length, since: performance.now() };
        return performance.now() - quiet.since >= quietMs ? all : undefined;
      }, withinMs);
      if (!rested)
        throw await failure(
          `The conversation is not idle after ${withinMs / 1000} s: messages are in transit, or handlers are running.`,
          "idle",
        );
    },
    messages,
    transcript,
  };
};
