import { ConversationError } from "../kernel/errors.js";
import type { Lifecycle } from "../lifecycle/index.js";
import { ownershipKind, ownershipLifecycle } from "../lifecycle/ownership-resource.js";
import { resources } from "../resources/index.js";
import type { EngineConfig } from "./dynamic-door.js";

export type { EngineConfig } from "./dynamic-door.js";

/**
 * A lifecycle that is loaded by its first call. The `Ownership`, whose ID all marks contain and for
 * which all others wait, is answered without loading.
 */
const loadedByCall = (load: () => Promise<Lifecycle>): Lifecycle => {
  let loaded: Promise<Lifecycle> | undefined;
  const on =
    <Given extends unknown[], Result>(
      verb: (of: Lifecycle) => (...given: Given) => Promise<Result>,
    ) =>
    async (...given: Given): Promise<Result> => {
      loaded ??= load();
      return verb(await loaded)(...given);
    };
  return {
    check: on((of) => of.check),
    diff: on((of) => of.diff),
    create: on((of) => of.create),
    read: on((of) => of.read),
    update: on((of) => of.update),
    delete: on((of) => of.delete),
  };
};

const loadDoor = () => import("./dynamic-door.js");

/** The lifecycles of this process, by kind: loaded and resolved once. */
const lifecycles = new Map<string, Lifecycle>();

/**
 * Returns the lifecycle of a kind. This function is frozen, because state written by any release
 * calls it by this name in `pulumi-conversation/provider/v1`.
 *
 * @throws ConversationError `INPUT_INVALID` for a kind that this release does not have
 */
export const lifecycleOf = (kind: string, config?: EngineConfig): Lifecycle => {
  if (kind === ownershipKind) return ownershipLifecycle;
  const known = lifecycles.get(kind);
  if (known) return known;
  const definition = resources.find((candidate) => candidate.kind === kind);
  if (definition) {
    const made = loadedByCall(async () => (await loadDoor()).lifecycleInRun(definition, config));
    lifecycles.set(kind, made);
    return made;
  }
  throw new ConversationError(
    "INPUT_INVALID",
    `This release of pulumi-conversation has no resource ${kind}. Install the release that wrote the state, or a newer one.`,
  );
};
