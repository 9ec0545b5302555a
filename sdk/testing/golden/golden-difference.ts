import { sameJson } from "../../../provider/kernel/json.js";
import { abbreviated } from "../../../provider/kernel/quoted.js";
import { participantText } from "../conversations/message-text.js";
import type { GoldenConversation, GoldenMessage, GoldenRecipient } from "./golden-document.js";

const cut = (text: string): string => abbreviated(text, 100);

const bodyText = ({ body: { text, content } }: GoldenMessage): string =>
  cut(typeof text === "string" ? JSON.stringify(text) : content ? JSON.stringify(content) : "");

const titleOf = (message: GoldenMessage): string =>
  [participantText(message.sender), message.type, bodyText(message)].filter(Boolean).join(" ");

const keyOf = ({ party }: GoldenRecipient): string => participantText(party);

const reachedBy = ({ recipients }: GoldenMessage, key: string): number =>
  recipients.filter((each) => each.isReached && keyOf(each) === key).length;

/** Why a message does not get to somebody. */
const whyNot = ({ recipients }: GoldenMessage, key: string): string => {
  const missed = recipients.find((each) => !each.isReached && keyOf(each) === key);
  return missed?.why ?? "it is not for them any more";
};

/** Who got a message and does not any more, and the other way round; several may be called the same. */
const recipientLines = (before: GoldenMessage, now: GoldenMessage): readonly string[] => {
  const title = `${titleOf(before)}:`;
  const keys = new Set([...before.recipients, ...now.recipients].map(keyOf));
  return [...keys].flatMap((key) => {
    const [was, is] = [reachedBy(before, key), reachedBy(now, key)];
    const whom = was > 1 || is > 1 ? `${key} (${is} in place of ${was})` : key;
    if (is < was) return [`${title} no longer reaches ${whom}: ${whyNot(now, key)}`];
    return is > was ? [`${title} now reaches ${whom}`] : [];
  });
};

const isSame = (a: GoldenMessage, b: GoldenMessage): boolean =>
  a.type === b.type && sameJson(a.sender, b.sender) && sameJson(a.body, b.body);

const isAlike = (a: GoldenMessage, b: GoldenMessage): boolean =>
  a.type === b.type && a.sender.kind === b.sender.kind;

/** Takes the message out that stands for one of before: the same one, else one of its sort. */
const counterpart = (left: GoldenMessage[], before: GoldenMessage): GoldenMessage | undefined => {
  const same = left.findIndex((each) => isSame(each, before));
  const place = same >= 0 ? same : left.findIndex((each) => isAlike(each, before));
  return place < 0 ? undefined : left.splice(place, 1)[0];
};

const gone = (before: GoldenMessage): string => {
  const reached = before.recipients.filter(({ isReached }) => isReached).map(keyOf);
  const whom = reached.length === 0 ? "" : `; it reached ${reached.join(", ")}`;
  return `${titleOf(before)}: is no longer said${whom}`;
};

const changed = (before: GoldenMessage, now: GoldenMessage): readonly string[] => {
  if (isSame(before, now)) return [];
  return [`${titleOf(before)}: is now ${titleOf(now)} ${cut(JSON.stringify(now.body))}`];
};

/** The answers to each message that the test says, the message itself first. */
const turns = (messages: readonly GoldenMessage[]): readonly GoldenMessage[][] =>
  messages.reduce<GoldenMessage[][]>((all, message) => {
    if (message.verb === "say" || all.length === 0) all.push([message]);
    else all.at(-1)?.push(message);
    return all;
  }, []);

const turnLines = (before: readonly GoldenMessage[], now: readonly GoldenMessage[]) => {
  const left = [...now];
  const found = before.flatMap((each) => {
    const match = counterpart(left, each);
    return match ? [...recipientLines(each, match), ...changed(each, match)] : [gone(each)];
  });
  return [...found, ...left.map((each) => `${titleOf(each)}: is new`)];
};

/** What differs between two runs of a conversation, a line for each; empty where nothing does. */
export const goldenDifferences = (
  before: GoldenConversation,
  now: GoldenConversation,
): readonly string[] => {
  const [was, is] = [turns(before.messages), turns(now.messages)];
  const most = Math.max(was.length, is.length);
  return Array.from({ length: most }, (_, at) => turnLines(was[at] ?? [], is[at] ?? [])).flat();
};
