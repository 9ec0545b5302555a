export {
  type BotArgs,
  ConversationAccount,
  type ConversationAccountArgs,
  type PartyArgs,
} from "./conversation-account.js";
export { Ownership } from "./ownership.js";
export { type CommonArgs, ConversationResource, type Lookup } from "./resource-class.js";
export * from "./resources.js";
