export {
  type BotArgs,
  ConversationAccount,
  type ConversationAccountArgs,
  type PartyArgs,
} from "./conversation-account.js";
export { type FromEnvOptions, fromEnv } from "./from-env.js";
export { ConversationResource, type Lookup, Ownership } from "./resource-class.js";
export * from "./resources.js";
