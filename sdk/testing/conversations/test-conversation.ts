import { AssertionError } from "node:assert";
import { z } from "zod";
import type { ConversationClient } from "../../runtime/connection/connect.js";
import type {
  Customer,
  FirstMessage,
  Message,
  NewConversation,
  Reply,
  Sender,
} from "../../runtime/messages/message.js";
import type { Sent } from "../../runtime/messages/messages.js";
import type { ReceivedMessage } from "../../runtime/messages/received-message.js";
import type { HubRecords } from "../checks/hub-records.js";
import { type ExpectedMessage, expectedText, isLike } from "./expected-message.js";
import { messageLine } from "./message-text.js";
import { type ReachedMessage, reachedMessages } from "./reached.js";
import type { EmulatedTime } from "./waiting.js";

type WithoutFrame<M> = M extends unknown ? Omit<M, "sender" | "conversation"> : never;

/** A message as a test says it: its text, or the whole message without sender and conversation. */
export type SaidMessage = string | WithoutFrame<Message>;

/** How a conversation of a test begins. */
export interface TestConversationStart {
  /** Type of the channel, such as `custom.web`. */
  readonly channel: string;
  /** Address of the account on the channel. */
  readonly address: string;
  /** The customer: a name, or more. Default: `Ada`. */
  readonly customer?: string | Customer;
  /** What else a first message says, such as `entryPoint`. Default: nothing. */
  readonly more?: Omit<NewConversation, "account" | "customer">;
}

/** A conversation of a test: says what one side says, and expects what the others answer. */
export interface TestConversation {
  /** The service's id of the conversation; undefined before the first message. */
  readonly id: string | undefined;
  /**
   * Sends a message; the first one starts the conversation.
   *
   * @param sender default: the customer
   * @returns what the service made of it
   * @throws ConversationError where the service refuses it, or its sender may not send it
   *
   * @example
   * await ada.say("Where is my order?");
   * await ada.say("One moment", { kind: "custom_agent", name: "Sam" });
   */
  say(message: SaidMessage, sender?: Sender): Promise<Sent>;
  /**
   * Waits for a message that somebody else says; messages before it are passed over, and what was
   * expected before is not looked at again.
   *
   * @returns the message
   * @throws AssertionError where none comes in time, or it does not reach those it is for, with the
   * conversation so far
   *
   * @example
   * await ada.expect({ from: "bot", type: "text", text: /your order/i, withinMs: 2_000 });
   */
  expect(expected: ExpectedMessage): Promise<ReceivedMessage>;
  /**
   * Makes sure that nobody says such a message within a time on the emulator's clock.
   *
   * @throws AssertionError where somebody does, with the conversation so far
   *
   * @example
   * await ada.expectNone({ from: "bot", withinMs: 1_000 });
   */
  expectNone(expected: ExpectedMessage): Promise<void>;
  /**
   * Waits until all that was said has reached those it is for, or was given up, and the handlers of
   * the test have done their work.
   *
   * @param withinMs longest wait, on the emulator's clock. Default: 5,000
   * @throws AssertionError where that takes longer, with the conversation so far
   */
  idle(withinMs?: number): Promise<void>;
  /** Every message so far with whom it reached, in order. Fails where the emulator is closed. */
  messages(): Promise<readonly ReachedMessage[]>;
  /** The same as lines for people. Fails where the emulator is closed. */
  transcript(): Promise<string>;
  /** What handlers of callbacks threw while they worked on this conversation: a line each. Never fails. */
  handlerFailures(): readonly string[];
}

/** What a conversation needs of the stack that it runs on. */
export interface ConversationMeans {
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

const customerOf = ({ customer = "Ada" }: TestConversationStart): Customer =>
  typeof customer === "string" ? { name: customer } : customer;

/** So long nothing may happen, in milliseconds of real time, for a conversation to be idle. */
const quietMs = 100;

const isOver = ({ reached }: ReachedMessage): boolean =>
  reached.every(({ isReached }) => isReached !== undefined);

const hasReached = ({ reached }: ReachedMessage): boolean =>
  reached.every(({ isReached }) => isReached === true);

/** A conversation that has not begun yet. */
export const testConversation = (
  { client, records, time, finalTries, handlers }: ConversationMeans,
  start: TestConversationStart,
): TestConversation => {
  const customer = customerOf(start);
  const own = new Set<string | undefined>();
  let id: string | undefined;
  let seen = 0;

  const messages = async (): Promise<readonly ReachedMessage[]> =>
    id === undefined ? [] : reachedMessages(records, id, finalTries);

  const transcript = async (): Promise<string> => (await messages()).map(messageLine).join("\n");

  const handlerFailures = (): readonly string[] => handlers.failures(id);

  const failure = async (said: string, operator: string): Promise<AssertionError> => {
    const lines = await transcript();
    const so = lines === "" ? "Nothing was said." : `The conversation so far:\n${lines}`;
    const failed = handlerFailures().map((line) => `A handler of the test failed: ${line}`);
    return new AssertionError({ message: [said, so, ...failed].join("\n"), operator });
  };

  /** The first message of somebody else that is as expected, and where it stands. */
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
      if (reached && !hasReached(one.found))
        throw await failure(
          `The ${expectedText(expected)} came, but did not reach those it is for ${within}.`,
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
          `There must be no ${expectedText(expected)}, but there was one.`,
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
          `The conversation did not come to rest within ${withinMs / 1000} s: messages are on their way, or handlers at work.`,
          "idle",
        );
    },
    messages,
    transcript,
    handlerFailures,
  };
};
