import { isObject } from "../../../provider/kernel/json.js";
import { objectsIn, withoutUndefined } from "../../runtime/json-members.js";
import type { ReceivedMessage } from "../../runtime/messages/received-message.js";
import type { ReachedMessage } from "../conversations/reached.js";
import type { GoldenMessage } from "./golden-document.js";

/** What is new in every run: ids, times, addresses of this machine. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?[^\s"]*/g, "<address>"],
];

/** A value with what changes from run to run replaced, and its members in a fixed order. */
export const steady = (value: unknown, mask: (text: string) => string): unknown => {
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
export const goldenMessage = (
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
    why: isReached ? "" : why || "no answer",
  })),
});
