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

/** @throws Error where a conversation is not one that must stay as it is */
const assertGolden = (file: string, document: GoldenConversation, failed: readonly string[]) => {
  const why =
    failed.length > 0 ? failed.map((line) => `a handler of the test failed: ${line}`) : [];
  if (document.messages.length === 0) why.push("nothing was said in it");
  if (why.length > 0)
    throw new Error(`The conversation was not recorded into ${file}: ${why.join("; ")}.`);
};

const recorded = async (stack: EmulatedStack, options: GoldenOptions): Promise<void> => {
  const { file, record, withinMs } = options;
  const performed = noting(stack.conversation(options));
  await record(performed.conversation);
  await performed.conversation.idle(withinMs);
  const document = await documentOf(performed, options);
  assertGolden(file, document, performed.conversation.handlerFailures());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, goldenText(document));
};

const senderOf = ({ sender: { kind, name } }: GoldenMessage, file: string): Sender => {
  if (isSenderKind(kind)) return { kind, name };
  throw new Error(`The golden file ${file} cannot be replayed: nobody can send as ${kind}.`);
};

/** Says everything again, each after as many answers as there were before. @returns why it ended early */
const sayAgain = async (
  { conversation }: Performed,
  { messages }: GoldenConversation,
  file: string,
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

/** @throws Error where the file cannot be read, or says nothing */
const goldenFrom = (file: string): GoldenConversation => {
  const cannot = (why: string): Error =>
    new Error(`The golden file ${file} cannot be replayed: ${why}. Remove it to record it anew.`);
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    throw cannot(error instanceof Error && "code" in error ? `${error.code}` : String(error));
  }
  const golden = goldenIn(file, content);
  if (!golden.messages.some(({ verb }) => verb === "say"))
    throw cannot("nobody says anything in it");
  return golden;
};

const replayed = async (stack: EmulatedStack, options: GoldenOptions): Promise<void> => {
  const { file, channel, address, withinMs = 5_000 } = options;
  const before = goldenFrom(file);
  const { customer } = before;
  const performed = noting(stack.conversation({ channel, address, customer }));
  const wait = async (count: number): Promise<void> => {
    await stack.until(
      async () => (await performed.conversation.messages()).length >= count || undefined,
      withinMs,
    );
    // Where it does not come to rest, the differences say what is missing.
    await performed.conversation.idle(withinMs).catch(() => undefined);
  };
  const ended = await sayAgain(performed, before, file, wait);
  const now = await documentOf(performed, { ...options, customer });
  const failed = performed.conversation.handlerFailures();
  const lines = [...goldenDifferences(before, now), ...(ended ? [ended] : [])];
  const why = failed.map((line) => `a handler of the test failed: ${line}`);
  assertSame(file, lines.length > 0 ? [...lines, ...why] : lines);
};

/** Whether an environment variable is set, and does not say no. */
const isOn = (name: string): boolean => !["", "0", "false"].includes(process.env[name] ?? "");

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
  const { file, update = isOn("UPDATE_GOLDEN_CONVERSATIONS") } = options;
  if (existsSync(file) && !update) {
    await replayed(stack, options);
    return "replayed";
  }
  if (isOn("CI") && !options.update)
    throw new Error(
      `The golden file ${file} ${existsSync(file) ? "is to be recorded anew" : "is missing"}, and CI is set: nothing is recorded there. Record it where CI is not set, and commit it.`,
    );
  await recorded(stack, options);
  return "recorded";
};
