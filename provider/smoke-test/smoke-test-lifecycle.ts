import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { EngineSession } from "../engine/engine-session.js";
import type { JsonObject } from "../kernel/json.js";
import { handler } from "../lifecycle/handler.js";
import type { Lifecycle } from "../lifecycle/index.js";
import { sealFields } from "../lifecycle/secrets.js";
import { smokeTest } from "./smoke-test-definition.js";
import {
  checkSmokeTest,
  fieldsOf,
  smokeTestChanges,
  smokeTestInputs,
} from "./smoke-test-inputs.js";

/** Name of the kind in the engine. */
export const smokeTestKind = smokeTest.kind;

type Sessions = (profile?: string) => Promise<EngineSession>;

/** What a run leaves in the state; nothing of it before the first run. */
const result = z
  .object({
    conversationId: z.string(),
    messageId: z.string(),
    sentAt: z.string(),
    arrived: z.boolean(),
    open: z.literal(true).optional(),
  })
  .optional()
  .catch(undefined);

const outputsOf = (inputs: JsonObject, last: z.output<typeof result>): JsonObject => ({
  ...sealFields(smokeTest.fields, fieldsOf(inputs)),
  ...last,
});

/** The parts that do I/O are loaded when a test runs: most runs have none. */
const tested = async (bag: JsonObject, sessions: Sessions): Promise<z.output<typeof result>> => {
  const inputs = smokeTestInputs(bag);
  const { runSmokeTest } = await import("./run-smoke-test.js");
  return runSmokeTest(inputs, await sessions(inputs.profile));
};

/** Ends what an earlier test had to leave open, as far as that can be done. */
const endLeftOpen = async (bag: JsonObject, sessions: Sessions): Promise<void> => {
  const last = result.parse(bag);
  if (!last?.open) return;
  const inputs = smokeTestInputs(bag);
  const { endConversation } = await import("./smoke-message.js");
  await endConversation(inputs, last.conversationId, await sessions(inputs.profile));
};

const isEnabled = (inputs: JsonObject): boolean => inputs.enabled === true;

/**
 * The life cycle of the smoke test: a creation or an update is a test, everything else does nothing.
 * A creation that fails is not recorded and an update that fails keeps the old state, so the next
 * run of the engine tests again.
 */
export const smokeTestLifecycle = (sessions: Sessions): Lifecycle => {
  const about = { definition: smokeTest, doing: "running" };
  return {
    check: (olds, inputs) =>
      handler({ ...about, doing: "checking", inputs, olds }, async () => checkSmokeTest(inputs)),
    diff: (_, olds, inputs) =>
      handler({ ...about, doing: "comparing", inputs, olds }, async () => ({
        changes: smokeTestChanges(olds, inputs),
      })),
    create: (inputs) =>
      handler({ ...about, inputs }, async () => ({
        outs: outputsOf(inputs, isEnabled(inputs) ? await tested(inputs, sessions) : undefined),
        id: `smoke-test-${randomBytes(8).toString("hex")}`,
      })),
    read: async (id, { __provider, ...props }) => ({
      id,
      props: { ...props, ...sealFields(smokeTest.fields, fieldsOf(props)) },
      inputs: sealFields(smokeTest.fields, fieldsOf(props)),
    }),
    update: (_, olds, inputs) =>
      handler({ ...about, inputs, olds }, async () => {
        if (!isEnabled(inputs)) return { outs: outputsOf(inputs, result.parse(olds)) };
        await endLeftOpen(olds, sessions);
        return { outs: outputsOf(inputs, await tested(inputs, sessions)) };
      }),
    delete: (_, inputs) =>
      handler({ ...about, doing: "ending", inputs }, () => endLeftOpen(inputs, sessions)),
  };
};
