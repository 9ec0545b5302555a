import type { Party } from "../../runtime/messages/received-message.js";

/** Who was to get a message, and whether it got there. */
export interface GoldenRecipient {
  readonly party: Party;
  readonly isReached: boolean;
  /** Why not; only for people. */
  readonly why: string;
}

/** One message of a golden conversation. */
export interface GoldenMessage {
  /** `say`: sent by the test, and sent again when it is replayed. `hear`: the answer of somebody else. */
  readonly verb: "say" | "hear";
  readonly sender: Party;
  readonly type: string;
  /** The body: of `say` as it is sent, of `hear` as it came, without what changes from run to run. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly recipients: readonly GoldenRecipient[];
}

/** A conversation that was recorded. */
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

/** The text of a golden file: the same conversation always has the same. */
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

const messageIn = (line: string): GoldenMessage | undefined => {
  const [, verb, kind = "", name = "", type = "", body = ""] = messagePattern.exec(line) ?? [];
  if (verb !== "say" && verb !== "hear") return undefined;
  return { verb, sender: partyIn(kind, name), type, body: JSON.parse(body), recipients: [] };
};

const recipientIn = (line: string): GoldenRecipient | undefined => {
  const [, verb, kind = "", name = "", why = ""] = recipientPattern.exec(line) ?? [];
  return verb === undefined
    ? undefined
    : { party: partyIn(kind, name), isReached: verb === "reaches", why };
};

/** Adds what a line says to the messages before it; undefined where it says nothing that is known. */
const withLine = (
  messages: readonly GoldenMessage[],
  line: string,
): readonly GoldenMessage[] | undefined => {
  const message = messageIn(line);
  if (message) return [...messages, message];
  const [recipient, last] = [recipientIn(line), messages.at(-1)];
  if (!recipient || !last) return undefined;
  return [...messages.slice(0, -1), { ...last, recipients: [...last.recipients, recipient] }];
};

/** What is read; undefined where JSON in it is spoiled. */
const readable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/**
 * Reads a golden file.
 *
 * @throws Error naming the line that cannot be read
 */
export const goldenIn = (file: string, content: string): GoldenConversation => {
  const unreadable = (line: number, said: string): Error =>
    new Error(
      `The golden file ${file} cannot be read: line ${line}, ${JSON.stringify(said.slice(0, 80))}. Remove the file to record it anew.`,
    );
  // Editors and version control may have changed the ends of lines.
  const lines = content.split(/\r?\n/).map((said, at) => ({ said, line: at + 1 }));
  const meaning = lines.filter(({ said }) => said.trim() !== "" && !said.startsWith("#"));
  const [first = { said: "", line: 1 }, ...rest] = meaning;
  const [, channel, address, customer] = accountPattern.exec(first.said) ?? [];
  if (channel === undefined || address === undefined || customer === undefined)
    throw unreadable(first.line, first.said);
  let messages: readonly GoldenMessage[] = [];
  for (const { said, line } of rest) {
    const more = readable(() => withLine(messages, said));
    if (!more) throw unreadable(line, said);
    messages = more;
  }
  const words = readable(() =>
    [channel, address, customer].map((word): string => JSON.parse(word)),
  );
  if (!words) throw unreadable(first.line, first.said);
  const [on = "", at = "", whom = ""] = words;
  return { channel: on, address: at, customer: whom, messages };
};
