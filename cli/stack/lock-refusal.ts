import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import type { StackLock } from "../../provider/stacks/stack-lock.js";

const atWork = ({ project, stack }: StackNames, by: string | undefined): string =>
  `the stack ${project}/${stack} is locked${by ? ` (${by})` : ""}, so a run may be at work on these objects. ` +
  "Wait until it has ended; if it was killed, run: pulumi cancel. Then try again";

/** Why the lock forbids to change anything; undefined where it does not. */
export const lockRefusal = (
  lock: StackLock,
  names: StackNames,
  ignoreLock: boolean,
): string | undefined => {
  if (lock.state === "locked") return atWork(names, lock.by);
  if (lock.state === "free" || ignoreLock) return undefined;
  return (
    `whether a run is at work on the stack ${names.project}/${names.stack} cannot be seen: ${lock.why}. ` +
    "Make sure that none is, then try again with --ignore-lock"
  );
};
