import { isObject, type JsonObject, listAt, textAt, valueAt } from "../../provider/kernel/json.js";
import { extensionInName } from "../../provider/resources/content-types.js";
import {
  type ConversationSide,
  conversationSides,
  maySend,
  messageTypes,
  rolesOnSide,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { invalidAttribute } from "../http/exchange.js";
import type { StoredObject } from "../objects/store.js";
import { type Switches, vendorWord } from "../service/switches.js";

/**
 * The steps of a simple JSONPath, such as `$.data.accessToken` or `$.tokens[0]`; undefined for any
 * other path.
 */
export const stepsOf = (path: string): readonly (string | number)[] | undefined => {
  if (!/^\$((\.[\w-]+)|(\[\d{1,4}\]))+$/.test(path)) return undefined;
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map(([, name, place]) =>
    name === undefined ? Number(place) : name,
  );
};

/** The message types of the specification that a sender of this kind may send. */
export const messageTypesOf = (sender: SenderKind): readonly string[] =>
  messageTypes.filter((type) => maySend(sender, type));

/** The kind of sender for a word in the wire format; undefined if there is none. */
export const senderKindOf = (word: unknown, switches: Switches): SenderKind | undefined =>
  senderKinds.find((kind) => vendorWord(kind, switches) === word);

/** The side of a conversation that a kind of sender belongs to. */
export const sideOf = (sender: SenderKind): ConversationSide =>
  conversationSides.find((side) => rolesOnSide[side].some((role) => role === sender)) ?? "customer";

/** The parts of a message that a channel may refuse to carry. */
interface CarriedMessage {
  /** Where it stands in the request. */
  readonly path: string;
  readonly type: string;
  readonly sender: SenderKind;
  readonly content: unknown;
  /** With the details of their assets. */
  readonly attachments: readonly JsonObject[];
}

type Restrictions = JsonObject;

const richPrefix = "richMessage.";

const assertText = ({ maxTextLength }: Restrictions, { path, type, content }: CarriedMessage) => {
  if (type !== "text" || typeof maxTextLength !== "number") return;
  // Characters as people count them: one outside the Basic Multilingual Plane counts once.
  if ([...(textAt(content, "text") ?? "")].length <= maxTextLength) return;
  const rule = `must have at most ${maxTextLength} characters on this channel`;
  throw invalidAttribute(`${path}.content.text`, rule);
};

/**
 * The words of a list. If there is none, a customer may send everything, and nobody else anything
 * (vendor).
 */
const words = (
  restrictions: Restrictions,
  name: string,
  { sender }: CarriedMessage,
): readonly unknown[] | undefined =>
  Array.isArray(restrictions[name]) || sender !== "customer"
    ? listAt(restrictions, name)
    : undefined;

const assertFeature = (restrictions: Restrictions, message: CarriedMessage) => {
  const { path, type, attachments } = message;
  const features = words(restrictions, "features", message);
  if (!features) return;
  if (type.startsWith("typing.") && !features.includes("typing_events"))
    throw invalidAttribute(`${path}.type.value`, "the channel does not support typing_events");
  if (attachments.length > 0 && !features.includes("attachments"))
    throw invalidAttribute(`${path}.attachments`, "the channel does not support attachments");
};

const assertRichMessage = (restrictions: Restrictions, message: CarriedMessage) => {
  const { path, type } = message;
  if (!type.startsWith(richPrefix)) return;
  const types = words(restrictions, "richMessageTypes", message);
  const isListed = types?.includes(type.slice(richPrefix.length)) ?? true;
  const isSignIn = type === `${richPrefix}authentication`;
  if (isListed && !(isSignIn && restrictions.midChatAuth !== true)) return;
  throw invalidAttribute(`${path}.type.value`, `the channel does not support ${type}`);
};

const isBlocked = (policy: JsonObject, { name }: JsonObject): boolean => {
  const extension = typeof name === "string" ? extensionInName(name) : undefined;
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
    if (policy.enabled === false)
      throw invalidAttribute(path, "attachments are not enabled on this channel");
    const { maxSize } = policy;
    const { size } = attachment;
    if (typeof maxSize === "number" && typeof size === "number" && size > maxSize)
      throw invalidAttribute(`${path}.size`, `must be at most ${maxSize} on this channel`);
    if (isBlocked(policy, attachment))
      throw invalidAttribute(path, "the channel does not accept files of this type");
  });
};

/**
 * Checks a message against the channel's restrictions for its direction: from or to the customer.
 *
 * @throws HttpError 400-196 that names the restriction that the message breaks (assumed)
 */
export const assertCarried = (channel: StoredObject | undefined, message: CarriedMessage): void => {
  const direction = message.sender === "customer" ? "inbound" : "outbound";
  const restrictions = valueAt(channel, "restrictions", direction);
  if (!isObject(restrictions)) return;
  assertText(restrictions, message);
  assertFeature(restrictions, message);
  assertRichMessage(restrictions, message);
  assertAttachments(restrictions, message);
};
