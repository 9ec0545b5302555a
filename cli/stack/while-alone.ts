import { hash } from "node:crypto";
import { join } from "node:path";
import { ownCacheFolder, tryLock } from "../../provider/pulumi-cli/own-folders.js";
import { CommandFailure } from "../command.js";
import type { OpenStack } from "./open-stack.js";

type ChangedStack = Pick<OpenStack, "env" | "names">;

/** The same for every process of a user that changes this stack. */
const lockFile = ({ env, names: { project, stack } }: ChangedStack): string => {
  const key = hash("sha256", JSON.stringify([env.PULUMI_BACKEND_URL ?? "", project, stack]));
  return join(ownCacheFolder(env), `stack-${key.slice(0, 16)}.lock`);
};

/** Nobody else can hold a lock where none can be kept. */
const lockOf = (stack: ChangedStack): ReturnType<typeof tryLock> => {
  try {
    return tryLock(lockFile(stack));
  } catch {
    return { release: () => undefined };
  }
};

/**
 * Does something that only one command at a time may do to a stack. Pulumi's own lock does not tell of
 * them: between what one has decided and what it does, the other would take away what that is about.
 *
 * @throws CommandFailure where another command of this user is at it on this machine
 */
export const whileAlone = async <R>(stack: ChangedStack, work: () => Promise<R>): Promise<R> => {
  const lock = lockOf(stack);
  if (lock.release === undefined) {
    const { project, stack: name } = stack.names;
    throw new CommandFailure(
      `Another repair or orphans command is changing ${project}/${name} (${lock.heldBy}), so nothing was done. Wait until it has ended, then try again.`,
    );
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
};
