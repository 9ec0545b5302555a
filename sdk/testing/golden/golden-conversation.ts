import { AssertionError } from "node:assert";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { Sender } from "../../runtime/messages/message.js";
import { isSenderKind } from "../../runtime/messages/message-types.js";
import type { ReachedMessage } from "../conversations/reached.js";
import type { SaidMessage, TestConversation } from "../conversations/test-conversation.js";
import type { EmulatedStack } from "../stack/emulated-stack.js";
import { goldenDifferences } from "./golden-difference.js";
import {
  type GoldenConversation,
  type GoldenMessage,
  goldenIn,
  goldenText,
} from "./golden-document.js";
import { goldenMessage } from "./golden-record.js";

/** How a golden conversation is recorded and replayed. */
export interface GoldenOptions {
  /** The file of the transcript; its folder is made where it is missing. */
  readonly file: string;
  /** Type of the channel. */
  readonly channel: string;
  /** Address of the account on it. */
  readonly address: string;
  /** Name of the customer. Default: `Ada`. */
  readonly customer?: string;
  /** The conversation, as it is recorded: what the test says, and what it waits for. */
  readonly record: (conversation: TestConversation) => Promise<void>;
  /**
   * Records anew although there is a file. Default: the environment variable
   * `UPDATE_GOLDEN_CONVERSATIONS` is set.
   */
  readonly update?: boolean;
  /** Longest wait for what was answered before, on the emulator's clock. Default: 5,000 ms. */
  readonly withinMs?: number;
  /** Replaces what changes from run to run in answers, beside ids, times and addresses of this machine. */
  readonly mask?: (text: string) => string;
}

/** What became of a golden conversation. */
export type GoldenResult = "recorded" | "replayed";

type Body = Readonly<Record<string, unknown>>;

/** The conversation of a golden file, with what was said to it by the test. */
interface Performed {
  readonly conversation: TestConversation;
  /** Bodies of what the test said, by the service's id of the message. */
  readonly said: ReadonlyMap<string, Body>;
}

const anySaid = z.custom<SaidMessage>();

const bodyOf = (message: SaidMessage): Body => {
  if (typeof message === "string") return { text: message };
  const { type: _type, messageId: _messageId, ...body } = message;
  return body;
};

/** Notes what is said, so that it can be said again. */
const noting = (conversation: TestConversation): Performed => {
  const said = new Map<string, Body>();
  const say: TestConversation["say"] = async (message, sender) => {
    const sent = await conversation.say(message, sender);
    for (const { id } of sent.messages) if (id !== undefined) said.set(id, bodyOf(message));
    return sent;
  };
  return { said, conversation: Object.create(conversation, { say: { value: say } }) };
};

const documentOf = async (
  { conversation, said }: Performed,
  { channel, address, customer = "Ada", mask = (text) => text }: GoldenOptions,
): Promise<GoldenConversation> => {
  const all: readonly ReachedMessage[] = await conversation.messages();
  const messages = all.map((each) => goldenMessage(each, said.get(each.message.id ?? ""), mask));
  return { channel, address, customer, messages };
};

const recorded = async (stack: EmulatedStack, options: GoldenOptions): Promise<void> => {
  const performed = noting(stack.conversation(options));
  await options.record(performed.conversation);
  await performed.conversation.idle(options.withinMs);
  mkdirSync(dirname(options.file), { recursive: true });
  writeFileSync(options.file, goldenText(await documentOf(performed, options)));
};

const senderOf = ({ sender: { kind, name } }: GoldenMessage, file: string): Sender => {
  if (isSenderKind(kind)) return { kind, name };
  throw new Error(`The golden file ${file} cannot be replayed: nobody can send as ${kind}.`);
};

/** Says everything again, each after as many answers as there were before. @returns why it ended early */
const sayAgain = async (
  { conversation }: Performed,
  { messages }: GoldenConversation,
  { file, withinMs }: GoldenOptions,
  wait: (count: number) => Promise<void>,
): Promise<string | undefined> => {
  for (const [place, message] of messages.entries()) {
    if (message.verb === "hear") continue;
    await wait(place);
    const { type, body } = message;
    try {
      await conversation.say(anySaid.parse({ type, ...body }), senderOf(message, file));
    } catch (error) {
      return `${JSON.stringify(body)}: cannot be said any more. ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  await wait(messages.length);
  await conversation.idle(withinMs);
  return undefined;
};

const assertSame = (file: string, lines: readonly string[]): void => {
  if (lines.length === 0) return;
  throw new AssertionError({
    message: [
      `The conversation is not the one of ${file} any more:`,
      ...lines.map((line) => `  ${line}`),
      "If that is as it should be, record it anew with UPDATE_GOLDEN_CONVERSATIONS=1.",
    ].join("\n"),
    operator: "goldenConversation",
  });
};

const replayed = async (stack: EmulatedStack, options: GoldenOptions): Promise<void> => {
  const { file, channel, address, withinMs = 5_000 } = options;
  const before = goldenIn(file, readFileSync(file, "utf8"));
  const { customer } = before;
  const performed = noting(stack.conversation({ channel, address, customer }));
  const wait = async (count: number): Promise<void> => {
    await stack.until(
      async () => (await performed.conversation.messages()).length >= count || undefined,
      withinMs,
    );
    await performed.conversation.idle(withinMs);
  };
  const ended = await sayAgain(performed, before, options, wait);
  const now = await documentOf(performed, { ...options, customer });
  assertSame(file, [...goldenDifferences(before, now), ...(ended ? [ended] : [])]);
};

/**
 * Keeps a conversation as it is: the first time it is recorded into a file, from then on what the
 * test said is said again, and every difference fails: which message no longer reaches whom, and
 * what is answered otherwise. Ids, times and addresses of this machine do not count. In a pipeline
 * (`CI` is set) nothing is recorded: there the file must be there.
 *
 * @returns whether it was recorded or replayed
 * @throws AssertionError with a line for each difference; Error where the file cannot be read, or is
 * missing in a pipeline
 *
 * @example
 * await goldenConversation(stack, {
 *   file: "golden/where-is-my-order.txt",
 *   channel: "custom.web",
 *   address: "shop-web",
 *   record: async (ada) => {
 *     await ada.say("Where is my order?");
 *     await ada.expect({ from: "bot" });
 *   },
 * });
 */
export const goldenConversation = async (
  stack: EmulatedStack,
  options: GoldenOptions,
): Promise<GoldenResult> => {
  const { file, update = Boolean(process.env.UPDATE_GOLDEN_CONVERSATIONS) } = options;
  if (existsSync(file) && !update) {
    await replayed(stack, options);
    return "replayed";
  }
  if (process.env.CI && !update)
    throw new Error(
      `The golden file ${file} is missing. Record it where CI is not set, and commit it.`,
    );
  await recorded(stack, options);
  return "recorded";
};
