import type { Orphan } from "../../provider/lifecycle/ownership/orphans.js";
import type { StackStates } from "../../provider/stacks/stack-states.js";
import { CommandFailure } from "../command.js";
import type { Purpose } from "./orphan-changes.js";

const standings = {
  held: "a state holds it or looks it up",
  copy: "it is a copy that somebody made of one of ours, and belongs to them",
} as const;

/** Why one object may not be touched; undefined where it may. */
const refusalFor = (
  id: string,
  { option }: Purpose,
  orphans: readonly Orphan[],
  { holdings }: StackStates,
): string | undefined => {
  const orphan = orphans.find((each) => each.id === id);
  if (!orphan) {
    const holder = holdings.find((each) => each.id === id);
    return holder
      ? `the state of ${holder.stack} holds it: ${holder.urn}`
      : "no object with this id carries the mark or the name of the stack";
  }
  if (orphan.standing === "held") return standings.held;
  return orphan.standing === "copy" && option === "--delete" ? standings.copy : undefined;
};

/**
 * What may be deleted or released, in the order of the orphans.
 *
 * @param ids only these, where given; else every left-over
 * @throws CommandFailure where one of the ids must not be touched, or where left-overs cannot be told for certain
 */
export const chosenAmong = (
  orphans: readonly Orphan[],
  purpose: Purpose,
  states: StackStates,
  ids?: readonly string[],
): readonly Orphan[] => {
  const nothing = `Nothing was ${purpose.done}:`;
  if (ids) {
    const refused = ids.flatMap((id) => {
      const reason = refusalFor(id, purpose, orphans, states);
      return reason ? [`  ${id}: ${reason}`] : [];
    });
    if (refused.length > 0) throw new CommandFailure([nothing, ...refused].join("\n"));
    return orphans.filter(({ id }) => ids.includes(id));
  }
  const leftOver = orphans.filter(({ standing }) => standing === "left-over");
  if (leftOver.length === 0 || states.complete) return leftOver;
  throw new CommandFailure(
    `${nothing} not every stack of the backend could be read, and one of the others may hold what looks left over. ` +
      "Name what is surely not needed: --delete --id <id>",
  );
};
