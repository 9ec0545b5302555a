// Sends one message through an account, and fails with the broken link in its path. The settings of the service come
// from the environment.
//
//   node ci/smoke-test.mjs ACCOUNT_ID
import { smokeTest } from "pulumi-conversation/runtime";

try {
  const { conversationId } = await smokeTest(process.argv[2]);
  console.log(`Smoke test: the service accepted the message of conversation ${conversationId}.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
