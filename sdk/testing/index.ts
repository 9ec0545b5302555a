export type { ConversationSide } from "../../provider/resources/message-types.js";
export type { ExpectedCalls, ExpectedDelivery, HubCall } from "./checks.js";
export type { EmulatedStack } from "./emulated-stack.js";
export {
  type StackFixture,
  stackFixture,
  stackHooks,
  startEmulatedStack,
  type TestHooks,
} from "./emulated-stack.js";
export type {
  CallbackHandler,
  CallbackHandlers,
  EmulatedStackOptions,
  HandlerContext,
  StackConfigValue,
  StackRun,
} from "./pulumi-runs.js";
export { StackFailure } from "./pulumi-runs.js";
export {
  type ConversationMocks,
  conversationMocks,
  type MockedProgram,
  type MockedResource,
  type MockedRunOptions,
  runMocked,
} from "./run-mocked.js";
export type { ForecastConditions, ForecastLimits } from "./stack-forecast.js";
export type {
  ExpectedMessage,
  Reached,
  ReachedMessage,
  SaidMessage,
  TestConversation,
  TestConversationStart,
} from "./test-conversation.js";
