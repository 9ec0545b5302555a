import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { isObject, objectsIn, sameJson, withoutUndefined } from "../../provider/kernel/json.js";
import { packageName } from "../../provider/kernel/package.js";
import { abbreviated, inertOutput } from "../../provider/kernel/text.js";
import { isSenderKind } from "../../provider/service/message-types.js";
import type { Sender } from "../runtime/message.js";
import type { Party, ReceivedMessage } from "../runtime/received-message.js";
import { assertionError } from "./assertion-error.js";
import type { EmulatedStack } from "./emulated-stack.js";
import {
  participantText,
  type ReachedMessage,
  type SaidMessage,
  type TestConversation,
} from "./test-conversation.js";

/** Who was to get a message, and whether it got there. */
interface GoldenRecipient {
  readonly party: Party;
  readonly isReached: boolean;
  /** Why not; only for people. */
  readonly why: string;
}

/** A message in a golden conversation. */
export interface GoldenMessage {
  /** `say`: sent by the test, and sent again in a replay. `hear`: a reply from someone else. */
  readonly verb: "say" | "hear";
  readonly sender: Party;
  readonly type: string;
  /**
   * The body: for `say`, as sent; for `hear`, as received, but without the parts that vary between
   * runs.
   */
  readonly body: Readonly<Record<string, unknown>>;
  readonly recipients: readonly GoldenRecipient[];
}

/** A recorded conversation. */
export interface GoldenConversation {
  readonly channel: string;
  readonly address: string;
  readonly customer: string;
  readonly messages: readonly GoldenMessage[];
}

const title = "# A golden conversation: recorded once, replayed by pulumi-conversation/testing.";

const participantWords = ({ kind, name }: Party): string =>
  `${kind} ${name === undefined ? "-" : JSON.stringify(name)}`;

const recipientLine = ({ party, isReached, why }: GoldenRecipient): string =>
  `  ${isReached ? "reaches" : "misses"} ${participantWords(party)}${isReached ? "" : `: ${why}`}`;

const messageLines = ({ verb, sender, type, body, recipients }: GoldenMessage): string[] => [
  `${verb} ${participantWords(sender)} ${type} ${JSON.stringify(body)}`,
  ...recipients.map(recipientLine),
];

/** Returns the text of a golden file, which is always the same for the same conversation. */
export const goldenText = ({ channel, address, customer, messages }: GoldenConversation): string =>
  [
    title,
    `account ${JSON.stringify(channel)} ${JSON.stringify(address)} customer ${JSON.stringify(customer)}`,
    ...messages.flatMap((message) => ["", ...messageLines(message)]),
    "",
  ].join("\n");

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const accountPattern = new RegExp(`^account (${text}) (${text}) customer (${text})$`);
const messagePattern = new RegExp(`^(say|hear) (\\S+) (-|${text}) (\\S+) (\\{.*\\})$`);
const recipientPattern = new RegExp(`^ {2}(reaches|misses) (\\S+) (-|${text})(?:: (.*))?$`);

const partyIn = (kind: string, name: string): Party =>
  name === "-" ? { kind } : { kind, name: JSON.parse(name) };

type Recorded = GoldenMessage & { readonly recipients: GoldenRecipient[] };

/** Adds what a line says to the messages before it. @throws if it says nothing that is known */
const addLine = (messages: Recorded[], line: string): void => {
  const [, verb, kind = "", name = "", type = "", body = ""] = messagePattern.exec(line) ?? [];
  if (verb === "say" || verb === "hear") {
    const sender = partyIn(kind, name);
    messages.push({ verb, sender, type, body: JSON.parse(body), recipients: [] });
    return;
  }
  const [, outcome, whose = "", called = "", why = ""] = recipientPattern.exec(line) ?? [];
  const last = messages.at(-1);
  if (outcome === undefined || !last) throw new SyntaxError("unknown");
  last.recipients.push({ party: partyIn(whose, called), isReached: outcome === "reaches", why });
};

/**
 * Reads a golden file.
 *
 * @throws Error naming the line that cannot be read
 */
export const goldenIn = (file: string, content: string): GoldenConversation => {
  // Editors and version control may have changed the ends of lines.
  const lines = content.split(/\r?\n/).map((said, at) => ({ said, line: at + 1 }));
  const meaning = lines.filter(({ said }) => said.trim() !== "" && !said.startsWith("#"));
  const [first = { said: "", line: 1 }, ...rest] = meaning;
  /** Fails for unknown words and broken JSON. */
  const readAt = <T>({ said, line }: typeof first, read: () => T): T => {
    try {
      return read();
    } catch {
      throw new Error(
        `Could not read line ${line} of the golden file ${file}: ${JSON.stringify(said.slice(0, 80))}. To record it again, remove the file.`,
      );
    }
  };
  const head = readAt(first, () => {
    const [, channel = "", address = "", customer = ""] = accountPattern.exec(first.said) ?? [];
    const [on, at, whom] = [channel, address, customer].map((word): string => JSON.parse(word));
    return { channel: on ?? "", address: at ?? "", customer: whom ?? "" };
  });
  const messages: Recorded[] = [];
  for (const each of rest) readAt(each, () => addLine(messages, each.said));
  return { ...head, messages };
};

/** What is new in every run: IDs, times, addresses of this machine. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?[^\s"]*/g, "<address>"],
];

/** A value with what changes from run to run replaced, and its members in a fixed order. */
const steady = (value: unknown, mask: (text: string) => string): unknown => {
  if (typeof value === "string")
    return mask(changing.reduce((text, [pattern, word]) => text.replace(pattern, word), value));
  if (Array.isArray(value)) return value.map((each) => steady(each, mask));
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, steady(value[name], mask)]));
};

const heardBody = ({ raw, attributes }: ReceivedMessage, mask: (text: string) => string) => {
  const attachments = objectsIn(raw.attachments, "attachment");
  const body = withoutUndefined({
    content: raw.content,
    attachments: attachments.length > 0 ? attachments : undefined,
    attributes: Object.keys(attributes).length > 0 ? attributes : undefined,
  });
  const masked = steady(body, mask);
  return isObject(masked) ? masked : {};
};

/** A message as a golden file holds it. `said`: the body with which the test sent it. */
const goldenMessage = (
  { message, reached }: ReachedMessage,
  said: Readonly<Record<string, unknown>> | undefined,
  mask: (text: string) => string,
): GoldenMessage => ({
  verb: said ? "say" : "hear",
  sender: message.sender,
  type: message.type,
  body: said ?? heardBody(message, mask),
  recipients: reached.map(({ recipient, isReached = false, why }) => ({
    party: recipient,
    isReached,
    why: isReached ? "" : why || "no response",
  })),
});

const cut = (text: string): string => abbreviated(text, 100);

const bodyText = ({ body: { text, content } }: GoldenMessage): string =>
  cut(typeof text === "string" ? JSON.stringify(text) : content ? JSON.stringify(content) : "");

const titleOf = (message: GoldenMessage): string =>
  [participantText(message.sender), message.type, bodyText(message)].filter(Boolean).join(" ");

const keyOf = ({ party }: GoldenRecipient): string => participantText(party);

/** Who got a message and does not any more, and the other way round; several may be called the same. */
const recipientLines = (before: GoldenMessage, now: GoldenMessage): readonly string[] => {
  const title = titleOf(before);
  const keys = new Set([...before.recipients, ...now.recipients].map(keyOf));
  const reachedBy = ({ recipients }: GoldenMessage, key: string): number =>
    recipients.filter((each) => each.isReached && keyOf(each) === key).length;
  return [...keys].flatMap((key) => {
    const [was, is] = [reachedBy(before, key), reachedBy(now, key)];
    const whom = was > 1 || is > 1 ? `${key} (${is} instead of ${was})` : key;
    if (is > was) return [`${title} now reaches ${whom}`];
    const missed = now.recipients.find((each) => !each.isReached && keyOf(each) === key);
    const why = missed?.why ?? "it is no longer a recipient";
    return is < was ? [`${title} no longer reaches ${whom}: ${why}`] : [];
  });
};

const isSame = (a: GoldenMessage, b: GoldenMessage): boolean =>
  a.type === b.type && sameJson(a.sender, b.sender) && sameJson(a.body, b.body);

const isAlike = (a: GoldenMessage, b: GoldenMessage): boolean =>
  a.type === b.type && a.sender.kind === b.sender.kind;

/** The answers to each message that the test says, the message itself first. */
const turns = (messages: readonly GoldenMessage[]): readonly GoldenMessage[][] =>
  messages.reduce<GoldenMessage[][]>((all, message) => {
    if (message.verb === "say" || all.length === 0) all.push([message]);
    else all.at(-1)?.push(message);
    return all;
  }, []);

/** Each message of before is compared to the same one, else to one of its sort. */
const turnLines = (before: readonly GoldenMessage[], now: readonly GoldenMessage[]) => {
  const left = [...now];
  const found = before.flatMap((each) => {
    const same = left.findIndex((other) => isSame(other, each));
    const place = same >= 0 ? same : left.findIndex((other) => isAlike(other, each));
    const [match] = place < 0 ? [] : left.splice(place, 1);
    if (!match) {
      const reached = each.recipients.filter(({ isReached }) => isReached).map(keyOf);
      const whom = reached.length === 0 ? "" : `; it reached ${reached.join(", ")}`;
      return [`${titleOf(each)} is no longer sent${whom}`];
    }
    const lines = recipientLines(each, match);
    if (isSame(each, match)) return lines;
    const [was, is] = [titleOf(each), titleOf(match)];
    const more = is === was ? ` ${cut(JSON.stringify(match.body))}` : "";
    return [...lines, `${was} is now ${is}${more}`];
  });
  return [...found, ...left.map((each) => `${titleOf(each)} is new`)];
};

/**
 * Returns the differences between two runs of a conversation, one line each; empty if there are
 * none.
 */
export const goldenDifferences = (
  before: GoldenConversation,
  now: GoldenConversation,
): readonly string[] => {
  const [was, is] = [turns(before.messages), turns(now.messages)];
  const most = Math.max(was.length, is.length);
  return Array.from({ length: most }, (_, at) => turnLines(was[at] ?? [], is[at] ?? [])).flat();
};

/** Options for recording and replaying a golden conversation. */
export interface GoldenOptions {
  /** Path of the golden file. Its folder is created if missing. */
  readonly file: string;
  /** Type of the channel. */
  readonly channel: string;
  /** The account's address on the channel. */
  readonly address: string;
  /** The customer's name. Default: `Ada`. */
  readonly customer?: string;
  /** Performs the conversation to record, sending the test's messages and waiting for replies. */
  readonly record: (conversation: TestConversation) => Promise<void>;
  /**
   * Whether to record again even if the file exists. Default: true if the environment variable
   * `UPDATE_GOLDEN_CONVERSATIONS` is set.
   */
  readonly update?: boolean;
  /** Time limit for each recorded reply, on the emulator's clock. Default: 5,000 ms. */
  readonly withinMs?: number;
  /**
   * Replaces additional parts of replies that vary between runs. IDs, times, and this machine's
   * addresses are always replaced.
   */
  readonly mask?: (text: string) => string;
}

/** The outcome of a golden conversation. */
export type GoldenResult = "recorded" | "replayed";

type Body = Readonly<Record<string, unknown>>;

/** The conversation of a golden file, with what was said to it by the test. */
interface Performed {
  readonly conversation: TestConversation;
  /** Bodies of what the test said, by the service's ID of the message. */
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
  const { file, record, withinMs } = options;
  const performed = noting(stack.conversation(options));
  const { conversation } = performed;
  await record(conversation);
  await conversation.idle(withinMs);
  const document = await documentOf(performed, options);
  const why = conversation.handlerFailures().map((line) => `a handler in the test failed: ${line}`);
  if (document.messages.length === 0) why.push("it has no messages");
  if (why.length > 0)
    throw new Error(`Could not record the conversation in ${file}: ${why.join("; ")}.`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, goldenText(document));
  process.stderr.write(
    `${packageName}: wrote the golden file ${inertOutput(file, false)}. Review it, then commit it.\n`,
  );
};

const senderOf = ({ sender: { kind, name } }: GoldenMessage, file: string): Sender => {
  if (isSenderKind(kind)) return { kind, name };
  throw new Error(`Could not replay the golden file ${file}: messages cannot be sent as ${kind}.`);
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
      return `${JSON.stringify(body)} can no longer be sent. ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  await wait(messages.length);
  return undefined;
};

/** @throws Error if the file cannot be read, or says nothing */
const goldenFrom = (file: string): GoldenConversation => {
  const cannot = (why: string): Error =>
    new Error(
      `Could not replay the golden file ${file}: ${why}. To record it again, remove the file.`,
    );
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    throw cannot(error instanceof Error && "code" in error ? `${error.code}` : String(error));
  }
  const golden = goldenIn(file, content);
  if (!golden.messages.some(({ verb }) => verb === "say")) throw cannot("it has no messages");
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
  const lines = [...goldenDifferences(before, now), ...(ended ? [ended] : [])];
  if (lines.length === 0) return;
  const failed = performed.conversation.handlerFailures();
  throw assertionError({
    message: [
      `The conversation differs from ${file}:`,
      ...lines.map((line) => `  ${line}`),
      ...failed.map((line) => `  a handler in the test failed: ${line}`),
      "If this is intended, record the conversation again with UPDATE_GOLDEN_CONVERSATIONS=1.",
    ].join("\n"),
    operator: "goldenConversation",
  });
};

/** Whether an environment variable is set, and does not say no. */
const isOn = (name: string): boolean => !["", "0", "false"].includes(process.env[name] ?? "");

/**
 * Tests that a conversation stays the same. The first run records it in a file. Later runs send the
 * test's messages again and fail on any difference, such as a changed reply or a recipient that a
 * message no longer reaches. IDs, times, and this machine's addresses are ignored. In a pipeline (if
 * `CI` is set), nothing is recorded unless the `update` option is true.
 *
 * @returns whether it was recorded or replayed
 * @throws AssertionError with a line for each difference; Error if the file cannot be read, or is
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
      `The golden file ${file} ${existsSync(file) ? "is marked for a new recording" : "is missing"}, but CI is set, so nothing is recorded. Record the conversation where CI is not set, and commit the file.`,
    );
  await recorded(stack, options);
  return "recorded";
};
