import type { Orphan } from "../../provider/lifecycle/orphans.js";
import { readStackConfig } from "../doctor/stack-config.js";
import { Failure } from "../failure.js";
import { readKnownObjects } from "./known-objects.js";

export interface OrphansOptions {
  readonly stack?: string;
  readonly profile?: string;
  readonly delete?: true;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** An object that the stack made and its state does not know. */
export interface FoundOrphan {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** Project, stack and logical name, as the object's mark tells them. */
  readonly label: string;
  /** Only where deletion was asked for: whether it is gone, or why not. */
  readonly deleted?: boolean;
  readonly reason?: string;
}

const shown = ({ definition, name, id, label }: Orphan): FoundOrphan => ({
  kind: definition.kind,
  name: typeof name === "string" ? name : "",
  id,
  label,
});

/**
 * Finds, and on demand deletes, what interrupted runs left behind of resources that are in no
 * program any more. Deletes users before what they use.
 *
 * @throws Failure where the state cannot be read; ConversationError where the service cannot
 */
export const runOrphans = async (options: OrphansOptions): Promise<readonly FoundOrphan[]> => {
  const { folder = process.cwd(), env = process.env, stack, profile } = options;
  const { ownership, ids } = await readKnownObjects(folder, env, stack);
  if (ownership === undefined)
    throw new Failure(
      "The stack has no Ownership: it has made nothing yet, or was destroyed. What a run that was killed before then left at the service carries the stack's name at the end of its description.",
    );
  const { values } = await readStackConfig(folder, env, stack);
  const { connectService } = await import("../../provider/service/connect.js");
  const { readSettings } = await import("../../provider/service/settings.js");
  const { orphansOf } = await import("../../provider/lifecycle/orphans.js");
  const { resources } = await import("../../provider/resources/index.js");
  const settings = readSettings({ environment: env, config: (key) => values.get(key) }, profile);
  const service = connectService(settings);
  try {
    const orphans = await orphansOf({ settings, service }, resources, ownership, ids);
    if (!options.delete) return orphans.map(shown);
    const done: FoundOrphan[] = [];
    for (const orphan of orphans) {
      const reason = await service.remove(orphan.definition, orphan.id).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      done.push({
        ...shown(orphan),
        deleted: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
      });
    }
    return done;
  } finally {
    await service.close();
  }
};
