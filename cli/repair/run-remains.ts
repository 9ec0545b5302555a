import { dirname } from "node:path";
import { isObject } from "../../provider/kernel/json.js";
import {
  type PulumiPlace,
  printedJson,
  queryPulumi,
} from "../../provider/stacks/pulumi-queries.js";
import { backendFolder } from "../../provider/stacks/stack-lock.js";
import { CommandFailure } from "../command.js";
import { projectFile, pulumiPlace } from "../pulumi-cli/stack-config.js";
import { type OpenStack, projectIn, type StackOptions } from "../stack/open-stack.js";
import { runStackCommand } from "../stack/write-state.js";
import { cutOffFiles, removeEmpty, restoreState } from "./cut-off-files.js";
import { endProcess, leftProcesses } from "./left-processes.js";
import { type LockStanding, lockInFolder, lockStanding } from "./lock-holders.js";
import type { RepairStep } from "./repair-steps.js";

interface RemainsOptions extends StackOptions {
  readonly apply?: true;
  readonly ignoreLock?: true;
}

/** The folder of a file backend; undefined for other backends, and where Pulumi does not tell. */
const fileBackend = async ({ stack: _, ...place }: PulumiPlace): Promise<string | undefined> => {
  const answer = await queryPulumi(place, ["whoami", "--verbose", "--json"]);
  const told = "text" in answer ? printedJson(answer.text) : undefined;
  const url = isObject(told) && typeof told.url === "string" ? told.url : "";
  return url.startsWith("file://") ? backendFolder(url, place.folder) : undefined;
};

const refusal = (lock: LockStanding, name: string, ignoreLock: boolean): string | undefined => {
  if (lock.state === "alive")
    return `A run is at work on the stack ${name} (${lock.by}), so nothing was looked at or changed. Wait until it has ended.`;
  if (lock.state !== "unknown" || ignoreLock) return undefined;
  return (
    `Whether a run is at work on the stack ${name} cannot be seen: ${lock.why}. ` +
    "Make sure that none is, then try again with --ignore-lock."
  );
};

/** @throws CommandFailure where a run is at work on a stack, or may be */
export const assertNoRun = async (
  { place, names, readLock }: OpenStack,
  { ignoreLock }: RemainsOptions,
): Promise<LockStanding> => {
  const lock = await lockStanding(await fileBackend(place), names, readLock);
  const refused = refusal(lock, `${names.project}/${names.stack}`, ignoreLock === true);
  if (refused) throw new CommandFailure(refused);
  return lock;
};

/**
 * Files that keep the state from being read; put in order on demand.
 *
 * @throws CommandFailure where a run is at work on their stack, or may be
 */
export const fileRemains = async (options: RemainsOptions): Promise<readonly RepairStep[]> => {
  const { folder = process.cwd(), env = process.env, stack, apply, ignoreLock } = options;
  const place = pulumiPlace(folder, env, stack);
  const backend = place && (await fileBackend(place));
  const project = projectIn(folder);
  if (backend === undefined || project === undefined) return [];
  const { empty, damaged, stacks } = await cutOffFiles(backend, project, stack?.split("/").at(-1));
  for (const of of stacks) {
    const lock = await lockInFolder(backend, { project, stack: of });
    const refused = refusal(lock, `${project}/${of}`, ignoreLock === true);
    if (refused) throw new CommandFailure(refused);
  }
  const done = apply ? { done: true } : {};
  if (apply) await removeEmpty(empty);
  if (apply) for (const { file, copy } of damaged) await restoreState(file, copy);
  return [
    ...(empty.length > 0
      ? [{ action: "remove-cut-off-files" as const, files: empty, ...done }]
      : []),
    ...damaged.map((each) => ({ action: "restore-state" as const, ...each, ...done })),
  ];
};

const cancelled = async ({ place }: OpenStack): Promise<string | undefined> => {
  const { ok, said } = await runStackCommand(place, ["cancel", "--yes"]);
  return ok ? undefined : said;
};

const outcomeOf = (reason: string | undefined) =>
  reason === undefined ? { done: true } : { done: false, reason };

/**
 * The processes and the lock that a killed run has left; ended and taken away on demand, the processes
 * first: what they still send is then sent.
 *
 * @throws CommandFailure where a run is at work, or may be, or where the lock stays
 */
export const lockRemains = async (
  stack: OpenStack,
  options: RemainsOptions,
): Promise<readonly RepairStep[]> => {
  const { apply, ignoreLock } = options;
  const lock = await assertNoRun(stack, options);
  const file = projectFile(stack.place.folder);
  const folder = file ? dirname(file) : stack.place.folder;
  const steps: RepairStep[] = [];
  for (const pid of await leftProcesses(folder, stack.names.project)) {
    const reason = apply && !(await endProcess(pid)) ? "it does not end" : undefined;
    steps.push({ action: "end-process", pid, ...(apply ? outcomeOf(reason) : {}) });
  }
  const isLeft = lock.state === "left" || (lock.state === "unknown" && ignoreLock === true);
  if (!isLeft) return steps;
  const by = lock.state === "left" ? lock.by : lock.why;
  const reason = apply ? await cancelled(stack) : undefined;
  if (reason) throw new CommandFailure(`The lock could not be taken away: ${reason}`);
  return [...steps, { action: "cancel", by, ...(apply ? { done: true } : {}) }];
};
