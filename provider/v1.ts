import {
  type EngineSession,
  engineSessions,
  engineStates,
  engineTell,
} from "./engine/engine-session.js";
import { ForeseenCalls, foreseeing } from "./engine/foreseen-calls.js";
import { previewMemory } from "./engine/preview-memory.js";
import { aboutResource, rememberUrns, urnInQuestion } from "./engine/resource-urn.js";
import { ConversationError } from "./kernel/errors.js";
import { type Lifecycle, lifecycle } from "./lifecycle/index.js";
import { ownershipKind, ownershipLifecycle } from "./lifecycle/ownership/ownership.js";
import { createRun, type Run } from "./lifecycle/run.js";
import { resources } from "./resources/index.js";
import { readSettings } from "./service/settings/settings.js";
import { smokeTestKind, smokeTestLifecycle } from "./smoke-test/smoke-test-lifecycle.js";
import { isDestroying } from "./stacks/pulumi-process.js";

/** The stack's configuration as the engine hands it to `configure`. */
export interface EngineConfig {
  get(key: string): string | undefined;
}

const planned = new ForeseenCalls(previewMemory);
let processRun: Run<EngineSession> | undefined;

/** One memory for all kinds of this process, as they share the token, the lists and the decisions. */
const runOf = (config: EngineConfig | undefined): Run<EngineSession> => {
  if (!processRun) {
    const source = { environment: process.env, config: (key: string) => config?.get(key) };
    processRun = createRun(engineSessions(source, planned), {
      settings: (profile) => readSettings(source, profile),
      states: engineStates(),
      tell: engineTell(),
      isDestroying,
      urn: urnInQuestion,
      about: aboutResource,
    });
  }
  return processRun;
};

/**
 * What the pointer in every state file calls: the life cycle of one kind. Frozen: state written by
 * any release asks for this name at `pulumi-conversation/provider/v1`.
 *
 * @throws ConversationError `INPUT_INVALID` for a kind that this release does not know
 */
export const lifecycleOf = (kind: string, config?: EngineConfig): Lifecycle => {
  // The ownership comes first: the URN of the first resource after it is needed, too.
  rememberUrns();
  if (kind === ownershipKind) return ownershipLifecycle;
  if (kind === smokeTestKind) return smokeTestLifecycle(runOf(config));
  const definition = resources.find((candidate) => candidate.kind === kind);
  if (!definition) {
    throw new ConversationError(
      "INPUT_INVALID",
      `This release of pulumi-conversation does not know the resource ${kind}. Install the release that wrote the state, or a newer one.`,
    );
  }
  return foreseeing(definition, lifecycle(definition, runOf(config)), planned);
};
