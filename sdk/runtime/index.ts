export {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
  isConversationError,
} from "../../provider/kernel/errors.js";
export type { JsonObject } from "../../provider/kernel/json.js";
export {
  type Burst,
  likelyBurst,
  type RateQuestion,
  rateOf,
} from "../../provider/pacing/plan/plan-rates.js";
export {
  type PlanRates,
  type RateRow,
  rateRows,
  type SpecialRate,
} from "../../provider/pacing/plan/rate-rows.js";
export type { Answer } from "../../provider/service/http/answers.js";
export type { Method } from "../../provider/service/http/operations.js";
export { type Plan, plans } from "../../provider/service/settings/plans.js";
export {
  type Asset,
  type AssetRequest,
  largestAsset,
  type NewAsset,
  type SignedAddress,
  type StoredAsset,
} from "./assets/asset-calls.js";
export type { Downloaded } from "./assets/asset-download.js";
export type { UploadOptions } from "./assets/asset-upload.js";
export type { Assets } from "./assets/assets.js";
export type { ContentSource } from "./assets/content-source.js";
export type { DownloadTarget } from "./assets/download-target.js";
export type { OnProgress, TransferOptions } from "./assets/signed-transfer.js";
export type {
  BasicCredentials,
  BearerCheck,
  CallbackCredentials,
} from "./callbacks/callback-credentials.js";
export type { CallbackOptions, MessageContext } from "./callbacks/callback-options.js";
export type { ExpressHandler, FetchHandler, NodeHandler } from "./callbacks/callback-servers.js";
export { type Callbacks, callbacks } from "./callbacks/callbacks.js";
export {
  type ConversationApp,
  type ConversationAppOptions,
  conversationApp,
  type MessageHandler,
} from "./callbacks/conversation-app.js";
export {
  type MessageMemory,
  processMemory,
  type RedisMemory,
  type RedisMemoryOptions,
  redisMemory,
  type Taken,
} from "./callbacks/message-memory.js";
export type { CallHooks, ResponseEvent } from "./connection/call-observer.js";
export { type ConversationClient, connect } from "./connection/connect.js";
export type { ConnectionOptions } from "./connection/connection.js";
export type { ServiceCall } from "./connection/other-services.js";
export type { ConnectionSettings, RunningEmulator } from "./connection/runtime-settings.js";
export type { RequestEvent } from "./connection/telemetry.js";
export type { Conversation, Conversations } from "./messages/conversations.js";
export type {
  Contact,
  ConversationReference,
  Customer,
  FirstMessage,
  Message,
  MessageFrom,
  MessageOf,
  NewConversation,
  Reply,
  Sender,
} from "./messages/message.js";
export {
  type Attachment,
  type BodyOf,
  type ConversationState,
  type ListPicker,
  messageBodies,
  type RichLink,
} from "./messages/message-contents.js";
export {
  type MessageType,
  type MessageTypesOf,
  maySend,
  messageTypes,
  type SenderKind,
  type SendersOf,
  senderKinds,
  sendersOf,
} from "./messages/message-types.js";
export {
  isConversationOver,
  type Messages,
  type SendOptions,
  type Sent,
  type SentMessage,
} from "./messages/messages.js";
export type { ReceivedContent } from "./messages/received-content.js";
export type { Party, ReceivedAttachment, ReceivedMessage } from "./messages/received-message.js";
export * from "./pkce.js";
