import type { Definition } from "../definition/define.js";
import { deletionOrder } from "../definition/references.js";
import { markOn, nameOnWire } from "./declared.js";
import { stackMark } from "./mark.js";
import type { Session } from "./run.js";

/** An object that a stack made and its state does not know. */
export interface Orphan {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  /** Project, stack and logical name, as the mark tells them. */
  readonly label: string;
}

/**
 * What an interrupted run left behind of resources that then left the program: objects with the
 * mark of the stack whose id is not in its state, in an order in which they can be deleted.
 *
 * @param ownership id of the stack's `Ownership`
 * @param known ids in the state
 */
export const orphansOf = async (
  { service }: Session,
  resources: readonly Definition[],
  ownership: string,
  known: ReadonlySet<string>,
): Promise<readonly Orphan[]> => {
  const stack = stackMark(ownership);
  const lists = await Promise.all(
    deletionOrder(resources).map(async (definition) => {
      const { objects } = await service.list(definition, { fresh: true });
      return [...objects].map(([id, wire]) => ({
        definition,
        id,
        name: nameOnWire(definition, wire),
        mark: markOn(wire),
      }));
    }),
  );
  return lists
    .flat()
    .flatMap(({ mark, ...object }) =>
      mark?.stack === stack && !known.has(object.id) ? [{ ...object, label: mark.label }] : [],
    );
};
