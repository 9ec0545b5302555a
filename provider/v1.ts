import type { EngineConfig } from "./engine/dynamic-door.js";
import { rememberUrns } from "./engine/sdk-module.js";
import { ConversationError } from "./kernel/errors.js";
import type { Lifecycle } from "./lifecycle/index.js";
import { ownershipKind, ownershipLifecycle } from "./lifecycle/ownership/ownership.js";
import { resources } from "./resources/index.js";
import { smokeTest } from "./smoke-test/smoke-test-definition.js";

export type { EngineConfig } from "./engine/dynamic-door.js";

const inRun = () => import("./engine/dynamic-door.js");
let loaded: ReturnType<typeof inRun> | undefined;

/**
 * A life cycle that is loaded by its first call. The `Ownership`, for which all others wait, is
 * answered before, and there is time to load while the program registers its resources.
 */
const loadedByCall = (
  load: (run: Awaited<ReturnType<typeof inRun>>) => Lifecycle | Promise<Lifecycle>,
): Lifecycle => {
  const ready = async (): Promise<Lifecycle> => {
    loaded ??= inRun();
    return load(await loaded);
  };
  return {
    check: async (...of) => (await ready()).check(...of),
    diff: async (...of) => (await ready()).diff(...of),
    create: async (...of) => (await ready()).create(...of),
    read: async (...of) => (await ready()).read(...of),
    update: async (...of) => (await ready()).update(...of),
    delete: async (...of) => (await ready()).delete(...of),
  };
};

/**
 * Called by the pointer in every state file: the life cycle of one kind. Frozen: state written by
 * any release uses this name at `pulumi-conversation/provider/v1`.
 *
 * @throws ConversationError `INPUT_INVALID` for a kind that this release does not know
 */
export const lifecycleOf = (kind: string, config?: EngineConfig): Lifecycle => {
  // The ownership comes first: the URN of the first resource after it is needed, too.
  rememberUrns();
  if (kind === ownershipKind) return ownershipLifecycle;
  if (kind === smokeTest.kind) return loadedByCall((run) => run.smokeTestInRun(config));
  const definition = resources.find((candidate) => candidate.kind === kind);
  if (definition) return loadedByCall((run) => run.lifecycleInRun(definition, config));
  throw new ConversationError(
    "INPUT_INVALID",
    `This release of pulumi-conversation does not know the resource ${kind}. Install the release that wrote the state, or a newer one.`,
  );
};
