import { inputInvalid, prepared } from "../caller-input.js";
import {
  isMessageType,
  isSenderKind,
  type MessageType,
  type MessageTypesOf,
  messageTypes,
  type SenderKind,
  senderKinds,
} from "../messages/message-types.js";
import type { ReceivedMessage } from "../messages/received-message.js";
import type { CallbackOptions, MessageContext } from "./callback-options.js";
import { type Callbacks, callbacks } from "./callbacks.js";

/** Works on the messages of some types. */
export type MessageHandler<T extends MessageType = MessageType> = (
  message: ReceivedMessage<T>,
  context: MessageContext,
) => void | Promise<void>;

/** The options of {@link callbacks}, but for what the handlers of an app say themselves. */
export type ConversationAppOptions = Omit<CallbackOptions, "onMessage" | "accepts">;

/** Callbacks whose messages go to the first handler that was registered for them. */
export interface ConversationApp extends Callbacks {
  /**
   * Registers a handler for messages of a type, or of some types, from anybody.
   *
   * @throws ConversationError `INPUT_INVALID` for a type or a handler that cannot be used
   */
  on<T extends MessageType>(type: T | readonly T[], handler: MessageHandler<T>): ConversationApp;
  /**
   * Registers a handler for messages of a type, or of some types, from one kind of sender.
   *
   * @throws ConversationError `INPUT_INVALID` for a type, a sender or a handler that cannot be used
   */
  on<K extends SenderKind, T extends MessageTypesOf<K>>(
    sender: K,
    type: T | readonly T[],
    handler: MessageHandler<T>,
  ): ConversationApp;
  /**
   * Registers the handler for everything else. Without one, everything else is discarded.
   *
   * @throws ConversationError `INPUT_INVALID` for what is no function
   */
  otherwise(handler: MessageHandler): ConversationApp;
}

/** The work on a message, where a handler takes it; else undefined. */
type Route = (
  message: ReceivedMessage<MessageType>,
) => ((context: MessageContext) => void | Promise<void>) | undefined;

/** `on(type, handler)` or `on(sender, type, handler)`. */
type Registration<T extends MessageType> =
  | readonly [types: T | readonly T[], handler: MessageHandler<T>]
  | readonly [sender: SenderKind, types: T | readonly T[], handler: MessageHandler<T>];

const doing = "register a handler";

const assertHandler = (handler: unknown): void => {
  if (typeof handler !== "function") throw inputInvalid(doing, "handler must be a function");
};

/** @throws ConversationError `INPUT_INVALID` naming what cannot be used */
const routeOf = <T extends MessageType>(given: Registration<T>): Route => {
  const [sender, type, handler] = given.length === 3 ? given : [undefined, ...given];
  if (given.length === 3 && !isSenderKind(sender)) {
    throw inputInvalid(doing, `sender must be one of: ${senderKinds.join(", ")}`);
  }
  const types: readonly unknown[] = [type].flat();
  if (types.length === 0 || !types.every(isMessageType)) {
    throw inputInvalid(doing, `type must be one or some of: ${messageTypes.join(", ")}`);
  }
  assertHandler(handler);
  const fits = (message: ReceivedMessage<MessageType>): message is ReceivedMessage<T> =>
    types.includes(message.type) && (sender === undefined || sender === message.sender.kind);
  return (message) => (fits(message) ? (context) => handler(message, context) : undefined);
};

/**
 * Makes callbacks that hand each message to the handler for its type, and for its sender where a
 * handler says so. The first one that was registered gets it, and nobody else. Options, order,
 * repeats and failures are those of {@link callbacks}.
 *
 * @throws ConversationError `INPUT_INVALID` for an option, a type or a sender that cannot be used
 *
 * @example
 * const app = conversationApp({ authenticate: { basic: { username: "hub", password } } });
 * app.on("customer", "text", async (message) => {
 *   await hub.messages.reply(message, { type: "text", text: "One moment", sender: "custom_bot" });
 * });
 * app.on("conversation.end", ({ conversationId }) => forget(conversationId));
 * app.otherwise(({ type }) => console.log(`nothing to do about ${type}`));
 * createServer(app.node).listen(3000);
 */
export const conversationApp = (options: ConversationAppOptions): ConversationApp => {
  const routes: Route[] = [];
  let fallback: MessageHandler = () => {};
  const onMessage: MessageHandler = async (message, context) => {
    for (const route of routes) {
      const work = route(message);
      if (work) return work(context);
    }
    return fallback(message, context);
  };
  const app: ConversationApp = {
    ...callbacks(prepared("make the app", () => ({ ...options, onMessage }))),
    on: <T extends MessageType>(...given: Registration<T>) => {
      routes.push(prepared(doing, () => routeOf(given)));
      return app;
    },
    otherwise: (handler) => {
      assertHandler(handler);
      fallback = handler;
      return app;
    },
  };
  return app;
};
