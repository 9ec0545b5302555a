export type { Answer } from "../../provider/service/answers.js";
export {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
  isConversationError,
} from "../../provider/service/errors.js";
export type { Downloaded } from "./asset-download.js";
export {
  type Asset,
  type AssetRequest,
  largestAsset,
  type NewAsset,
  type SignedAddress,
  type StoredAsset,
} from "./asset-operations.js";
export type { UploadOptions } from "./asset-upload.js";
export type { Assets } from "./assets.js";
export type { CallHooks, RequestEvent, ResponseEvent } from "./call-events.js";
export type { BearerCheck, CallbackCredentials } from "./callback-credentials.js";
export type { CallbackOptions } from "./callback-options.js";
export type { ExpressHandler, FetchHandler, NodeHandler } from "./callback-servers.js";
export { type Callbacks, callbacks } from "./callbacks.js";
export { type ConversationClient, connect } from "./connect.js";
export type { ConnectionOptions } from "./connection-options.js";
export type { ContentSource } from "./content-source.js";
export {
  type ConversationApp,
  type ConversationAppOptions,
  conversationApp,
  type MessageHandler,
} from "./conversation-app.js";
export type { Conversation, Conversations } from "./conversations.js";
export type { OnProgress } from "./counted-content.js";
export type { DownloadTarget } from "./download-target.js";
export type { JsonObject } from "./json-object.js";
export type { FirstMessage, Message, MessageFrom, MessageOf, Reply, Sender } from "./message.js";
export {
  type Attachment,
  type BodyOf,
  type ConversationState,
  type ListPicker,
  messageBodies,
  type RichLink,
} from "./message-contents.js";
export type {
  Contact,
  ConversationReference,
  Customer,
  NewConversation,
} from "./message-frame.js";
export { type MessageMemory, processMemory, type Taken } from "./message-memory.js";
export {
  type MessageType,
  type MessageTypesOf,
  maySend,
  messageTypes,
  type SenderKind,
  type SendersOf,
  senderKinds,
  sendersOf,
} from "./message-types.js";
export type { MessageContext } from "./message-work.js";
export {
  isConversationOver,
  type Messages,
  type SendOptions,
  type Sent,
  type SentMessage,
} from "./messages.js";
export type { ServiceCall } from "./other-services.js";
export * from "./pkce.js";
export * from "./plan-rates.js";
export type { ReceivedContent } from "./received-content.js";
export type { Party, ReceivedAttachment, ReceivedMessage } from "./received-message.js";
export { type RedisMemory, type RedisMemoryOptions, redisMemory } from "./redis-memory.js";
export type { ConnectionSettings, RunningEmulator } from "./runtime-settings.js";
export type { TransferOptions } from "./signed-transfer.js";
