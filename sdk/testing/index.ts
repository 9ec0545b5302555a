export type { ExpectedCalls, ExpectedDelivery } from "./checks/call-check.js";
export type { HubCall } from "./checks/hub-records.js";
export type { ForecastConditions, ForecastLimits } from "./checks/stack-forecast.js";
export type { ConversationSide, ExpectedMessage } from "./conversations/expected-message.js";
export type { Reached, ReachedMessage } from "./conversations/reached.js";
export type {
  SaidMessage,
  TestConversation,
  TestConversationStart,
} from "./conversations/test-conversation.js";
export {
  type GoldenOptions,
  type GoldenResult,
  goldenConversation,
} from "./golden/golden-conversation.js";
export {
  type ConversationMocks,
  conversationMocks,
  type MockedResource,
} from "./mocks/conversation-mocks.js";
export { type MockedProgram, type MockedRunOptions, runMocked } from "./mocks/run-mocked.js";
export type { EmulatedStack } from "./stack/emulated-stack.js";
export { type StackFixture, stackFixture, stackHooks, type TestHooks } from "./stack/fixtures.js";
export type { StackRun } from "./stack/pulumi-runs.js";
export { StackFailure } from "./stack/stack-failure.js";
export type {
  CallbackHandler,
  CallbackHandlers,
  EmulatedStackOptions,
  HandlerContext,
  StackConfigValue,
} from "./stack/stack-options.js";
export { startEmulatedStack } from "./stack/start-emulated-stack.js";
