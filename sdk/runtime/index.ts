export type { Clock } from "../../provider/kernel/clock.js";
export {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
  isConversationError,
  type ServiceNote,
} from "../../provider/kernel/errors.js";
export type { JsonObject } from "../../provider/kernel/json.js";
export {
  type AnyMessageType,
  type FurtherMessageType,
  furtherMessageTypes,
  type MessageType,
  type MessageTypesOf,
  maySend,
  messageTypes,
  type OwnMessageType,
  type SenderKind,
  type SendersOf,
  senderKinds,
  sendersOf,
} from "../../provider/resources/message-types.js";
export type { Answer } from "../../provider/service/client.js";
export type { Wait } from "../../provider/service/pace.js";
export { type Plan, plans } from "../../provider/service/plans.js";
export type { RetryLimits } from "../../provider/service/retry.js";
export type { Method } from "../../provider/service/transport.js";
export {
  type Asset,
  type AssetRequest,
  largestAsset,
  type NewAsset,
  type SignedAddress,
  type StoredAsset,
} from "./asset-calls.js";
export type { Assets, ContentSource, Downloaded, UploadOptions } from "./assets.js";
export type { CallHooks, RequestEvent, ResponseEvent } from "./call-hooks.js";
export type {
  BasicCredentials,
  BearerCheck,
  CallbackCredentials,
  CallbackOptions,
  MessageContext,
} from "./callback-options.js";
export {
  type Callbacks,
  type ConversationApp,
  type ConversationAppOptions,
  callbacks,
  conversationApp,
  type MessageHandler,
  type NodeHandler,
} from "./callbacks.js";
export {
  type ConnectionOptions,
  type ConnectionSettings,
  type ConversationClient,
  connect,
  type RunningEmulator,
  type ServiceCall,
} from "./connect.js";
export type { Conversation, Conversations } from "./conversations.js";
export type { CallOptions } from "./input-schemas.js";
export {
  type Attachment,
  type Availability,
  type BodyOf,
  type Contact,
  type ConversationReference,
  type ConversationState,
  type Customer,
  contentSchemas,
  type FirstMessage,
  type ListPicker,
  type LocatedFile,
  type Message,
  type MessageFrame,
  type MessageFrom,
  type MessageOf,
  type MessageReference,
  type NewConversation,
  type OtherMessage,
  type PreferredAgent,
  type Reply,
  type RichLink,
  type Sender,
  type SurveyConversation,
} from "./message.js";
export type { MessageMemory, Taken } from "./message-memory.js";
export {
  isConversationOver,
  type Messages,
  type SendOptions,
  type Sent,
  type SentMessage,
  type SentMessages,
} from "./messages.js";
export * from "./pkce.js";
export type {
  MessageStatus,
  Party,
  ReceivedAttachment,
  ReceivedMessage,
} from "./received-message.js";
export { type RedisMemory, type RedisMemoryOptions, redisMemory } from "./redis-memory.js";
export { type ServedCallbacks, type ServeOptions, serveCallbacks } from "./serve-callbacks.js";
export { type SmokeTestMessage, type SmokeTestOptions, smokeTest } from "./smoke-test.js";
