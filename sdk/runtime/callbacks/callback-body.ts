import { isObject, parseJson } from "../../../provider/kernel/json.js";
import { type ReceivedMessage, receivedMessage } from "../messages/received-message.js";

/** What the body of a callback holds. */
export interface CallbackBody {
  readonly messages: readonly ReceivedMessage[];
  /** Entries that are no messages. */
  readonly unreadable: number;
}

/** The list of messages: `messages.message` in version v3, `message` at the top in version v1. */
const listIn = (body: unknown): readonly unknown[] | undefined => {
  if (!isObject(body)) return undefined;
  const v3 = isObject(body.messages) ? body.messages.message : undefined;
  const list = v3 ?? body.message;
  return Array.isArray(list) ? list : undefined;
};

/** A body that is parsed already; undefined where it holds no list of messages in either version. */
export const callbackBody = (body: unknown, platformName: string): CallbackBody | undefined => {
  const list = listIn(body);
  if (!list) return undefined;
  const messages = list.flatMap((entry) => receivedMessage(entry, platformName) ?? []);
  return { messages, unreadable: list.length - messages.length };
};

/** JSON text as a value; undefined where it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};
