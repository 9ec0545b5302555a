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
import type { CallbackOptions } from "./callback-options.js";
import { type Callbacks, callbacks } from "./callbacks.js";
import type { MessageContext } from "./message-work.js";

/** Works on the messages of some types. */
export type MessageHandler<T extends MessageType = MessageType> = (
  message: ReceivedMessage<T>,
  context: MessageContext,
) => void | Promise<void>;

/** The options of {@link callbacks}, but for what the handlers of an app say themselves. */
export type ConversationAppOptions = Omit<CallbackOptions, "onMessage" | "accepts">;

/** Callbacks whose messages go to the first handler that was registered for them. */
export interface ConversationApp extends Callbacks {
  /** Registers a handler for messages of a type, or of some types, from anybody. */
  on<T extends MessageType>(type: T | readonly T[], handler: MessageHandler<T>): ConversationApp;
  /** Registers a handler for messages of a type, or of some types, from one kind of sender. */
  on<K extends SenderKind, T extends MessageTypesOf<K>>(
    sender: K,
    type: T | readonly T[],
    handler: MessageHandler<T>,
  ): ConversationApp;
  /** Registers the handler for everything else. Without one, everything else is discarded. */
  otherwise(handler: MessageHandler): ConversationApp;
}

interface Route {
  readonly sender: SenderKind | undefined;
  readonly types: readonly MessageType[];
  readonly handler: (message: never, context: MessageContext) => void | Promise<void>;
}

const doing = "register a handler";

const typesIn = (given: unknown): readonly MessageType[] => {
  const types: readonly unknown[] = [given].flat();
  if (types.length > 0 && types.every(isMessageType)) return types;
  throw inputInvalid(doing, `type must be one or some of: ${messageTypes.join(", ")}`);
};

const senderIn = (given: unknown): SenderKind => {
  if (isSenderKind(given)) return given;
  throw inputInvalid(doing, `sender must be one of: ${senderKinds.join(", ")}`);
};

const handlerIn = (given: unknown): Route["handler"] => {
  if (isHandler(given)) return given;
  throw inputInvalid(doing, "handler must be a function");
};

const isHandler = (value: unknown): value is Route["handler"] => typeof value === "function";

/** `on(type, handler)` or `on(sender, type, handler)`. */
const routeOf = (given: readonly unknown[]): Route => {
  const [handler, types, sender] = [...given].reverse();
  return {
    sender: given.length > 2 ? senderIn(sender) : undefined,
    types: typesIn(types),
    handler: handlerIn(handler),
  };
};

const fits =
  ({ type, sender }: ReceivedMessage<MessageType>) =>
  (route: Route): boolean =>
    route.types.includes(type) && (route.sender === undefined || route.sender === sender.kind);

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
    const handler = routes.find(fits(message))?.handler ?? fallback;
    // The route was found by the type that its handler takes.
    await handler(message as never, context);
  };
  const app: ConversationApp = {
    ...callbacks(prepared("make the app", () => ({ ...options, onMessage }))),
    on: (...given: readonly unknown[]) => {
      routes.push(prepared(doing, () => routeOf(given)));
      return app;
    },
    otherwise: (handler) => {
      handlerIn(handler);
      fallback = handler;
      return app;
    },
  };
  return app;
};
