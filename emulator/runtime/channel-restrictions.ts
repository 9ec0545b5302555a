import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { invalidAttribute } from "../http/validation-errors.js";
import type { StoredObject } from "../objects/store.js";
import { extensionInName } from "./assets/content-types.js";
import { listAt, textOnPath, valueOnPath } from "./json-path.js";
import type { SenderType } from "./sender-rules.js";

/** What a message brings that a channel may not carry. */
export interface CarriedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderType;
  readonly content: unknown;
  /** With what their assets say of them. */
  readonly attachments: readonly JsonObject[];
}

type Restrictions = JsonObject;

const richPrefix = "richMessage.";

const textIn = (content: unknown): string =>
  typeof content === "string" ? content : (textOnPath(content, "text") ?? "");

const assertText = ({ maxTextLength }: Restrictions, { path, type, content }: CarriedMessage) => {
  if (type !== "text" || typeof maxTextLength !== "number") return;
  // Characters as people count them: one outside the first plane is one.
  if ([...textIn(content)].length <= maxTextLength) return;
  const rule = `must have at most ${maxTextLength} characters on this channel`;
  throw invalidAttribute(`${path}.content.text`, rule);
};

/** The words of a list; undefined where there is none, which allows everything. */
const words = (restrictions: Restrictions, name: string): readonly unknown[] | undefined =>
  Array.isArray(restrictions[name]) ? listAt(restrictions, name) : undefined;

const assertFeature = (restrictions: Restrictions, { path, type, attachments }: CarriedMessage) => {
  const features = words(restrictions, "features");
  if (!features) return;
  if (type.startsWith("typing.") && !features.includes("typing_events"))
    throw invalidAttribute(`${path}.type.value`, "the channel carries no typing_events");
  if (attachments.length > 0 && !features.includes("attachments"))
    throw invalidAttribute(`${path}.attachments`, "the channel carries no attachments");
};

const assertRichMessage = (restrictions: Restrictions, { path, type }: CarriedMessage) => {
  if (!type.startsWith(richPrefix)) return;
  const types = words(restrictions, "richMessageTypes");
  const isListed = types?.includes(type.slice(richPrefix.length)) ?? true;
  const isSignIn = type === `${richPrefix}authentication`;
  if (isListed && !(isSignIn && restrictions.midChatAuth === false)) return;
  throw invalidAttribute(`${path}.type.value`, `the channel carries no ${type}`);
};

const extensionOf = (attachment: JsonObject): string | undefined => {
  const { name, url } = attachment;
  if (typeof name === "string") return extensionInName(name);
  return typeof url === "string" && URL.canParse(url)
    ? extensionInName(new URL(url).pathname.split("/").at(-1) ?? "")
    : undefined;
};

const isBlocked = (policy: JsonObject, attachment: JsonObject): boolean => {
  const extension = extensionOf(attachment);
  const listed = listAt(policy, "extensions").some(
    (each) => typeof each === "string" && each.toLowerCase() === extension,
  );
  return policy.type === "allow" ? !listed : policy.type === "block" && listed;
};

const assertAttachments = (restrictions: Restrictions, message: CarriedMessage) => {
  const { attachmentPolicy: policy } = restrictions;
  if (!isObject(policy)) return;
  message.attachments.forEach((attachment, place) => {
    const path = `${message.path}.attachments.attachment[${place}]`;
    if (policy.enabled !== true)
      throw invalidAttribute(path, "attachments are not enabled on this channel");
    const { maxSize } = policy;
    // Some callers give the size as text (public reference).
    if (typeof maxSize === "number" && Number(textOrNumber(attachment.size)) > maxSize)
      throw invalidAttribute(`${path}.size`, `must be at most ${maxSize} on this channel`);
    if (isBlocked(policy, attachment))
      throw invalidAttribute(path, "files of this type are not accepted on this channel");
  });
};

const textOrNumber = (value: unknown): string | number =>
  typeof value === "string" || typeof value === "number" ? value : 0;

/**
 * What a channel says of the messages from the customer, or to the customer.
 *
 * @throws HttpError 400-152 that says which restriction the message breaks (assumed)
 */
export const assertCarried = (channel: StoredObject | undefined, message: CarriedMessage): void => {
  const direction = message.sender === "customer" ? "inbound" : "outbound";
  const restrictions = valueOnPath(channel, "restrictions", direction);
  if (!isObject(restrictions)) return;
  assertText(restrictions, message);
  assertFeature(restrictions, message);
  assertRichMessage(restrictions, message);
  assertAttachments(restrictions, message);
};
