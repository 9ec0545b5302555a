import { randomBytes } from "node:crypto";
import type { JsonObject } from "../kernel/json.js";
import { writtenSecrets } from "../lifecycle/body.js";
import { engineCall, type Lifecycle } from "../lifecycle/index.js";
import type { EngineSession, Run } from "../lifecycle/run.js";
import { wrapFieldSecrets } from "../lifecycle/state.js";
import { smokeTest } from "./smoke-test-definition.js";
import {
  checkSmokeTest,
  fieldsOf,
  type SmokeTestResult,
  smokeTestChanges,
  smokeTestInputs,
  smokeTestResult,
} from "./smoke-test-inputs.js";

/** The parts of the run that a test needs. */
type TestRun = Pick<Run<EngineSession>, "session" | "about">;

const outputsOf = (inputs: JsonObject, last: SmokeTestResult | undefined): JsonObject => ({
  ...wrapFieldSecrets(smokeTest.fields, fieldsOf(inputs)),
  ...last,
});

/** The parts that do I/O are loaded when a test runs: most runs have none. */
const tested = async (inputs: JsonObject, { session }: TestRun) => {
  const test = smokeTestInputs(writtenSecrets(inputs));
  const { runSmokeTest } = await import("./run-smoke-test.js");
  return runSmokeTest(test, await session(test.profile));
};

/** Ends a conversation that an earlier test had to leave open, if possible. */
const endLeftOpen = async (state: JsonObject, { session }: TestRun): Promise<void> => {
  const last = smokeTestResult(state);
  if (!last?.open) return;
  const test = smokeTestInputs(state);
  const { endConversation } = await import("./run-smoke-test.js");
  await endConversation(test, last.conversationId, await session(test.profile));
};

const isEnabled = (inputs: JsonObject): boolean => inputs.enabled === true;

/**
 * The smoke test's lifecycle. Creating or updating the resource runs the test if it is enabled;
 * deleting it ends a conversation that a test left open. A failed creation is not recorded, and a
 * failed update keeps the old state, so the engine's next run tests again.
 */
export const smokeTestLifecycle = (run: TestRun): Lifecycle => {
  const about = { run, definition: smokeTest, doing: "running" };
  return {
    check: (olds, inputs) =>
      engineCall({ ...about, doing: "checking", inputs, olds }, async () => checkSmokeTest(inputs)),
    diff: (_, olds, inputs) =>
      engineCall({ ...about, doing: "comparing", inputs, olds }, async () => ({
        changes: smokeTestChanges(olds, inputs),
      })),
    create: (inputs) =>
      engineCall({ ...about, inputs }, async () => ({
        outs: outputsOf(inputs, isEnabled(inputs) ? await tested(inputs, run) : undefined),
        id: `smoke-test-${randomBytes(8).toString("hex")}`,
      })),
    read: async (id, { __provider, ...props }) => ({
      id,
      props: { ...props, ...wrapFieldSecrets(smokeTest.fields, fieldsOf(props)) },
      inputs: wrapFieldSecrets(smokeTest.fields, fieldsOf(props)),
    }),
    update: (_, olds, inputs) =>
      engineCall({ ...about, inputs, olds }, async () => {
        if (!isEnabled(inputs)) return { outs: outputsOf(inputs, smokeTestResult(olds)) };
        await endLeftOpen(olds, run);
        return { outs: outputsOf(inputs, await tested(inputs, run)) };
      }),
    delete: (_, inputs) =>
      engineCall({ ...about, doing: "ending", inputs }, () => endLeftOpen(inputs, run)),
  };
};
