export type { ConversationSide } from "../../provider/resources/message-types.js";
export type { CallbackHandler, CallbackHandlers } from "./callback-server.js";
export type { ExpectedCalls, ExpectedDelivery, HubCall } from "./checks.js";
export { StackFailure } from "./checks.js";
export type { EmulatedStack } from "./emulated-stack.js";
export {
  type StackFixture,
  stackFixture,
  stackHooks,
  startEmulatedStack,
  type TestHooks,
} from "./emulated-stack.js";
export type {
  EmulatedStackOptions,
  HandlerContext,
  StackConfigValue,
  StackRun,
} from "./pulumi-stack.js";
export {
  type ConversationMocks,
  conversationMocks,
  type MockedProgram,
  type MockedResource,
  type MockedRunOptions,
  runMocked,
} from "./run-mocked.js";
export type { ForecastLimits } from "./stack-forecast.js";
export type {
  ExpectedMessage,
  Reached,
  ReachedMessage,
  SaidMessage,
  TestConversation,
  TestConversationStart,
} from "./test-conversation.js";
