import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { typeToken } from "../../provider/pointer.js";
import { isRunning } from "../../provider/pulumi-cli/processes.js";
import { type Round, round, upOf } from "./chaos-rounds.js";
import type { EmulatedProject } from "./emulated-project.js";
import { descendants, killTree } from "./processes.js";

/** Kinds of the resources of `chaosProgram`, by their logical names. */
const kinds: Readonly<Record<string, readonly [kind: string, collection: string]>> = {
  auth: ["Authentication", "authentications"],
  app: ["ClientApplication", "clientapplications"],
  bot1: ["Participant", "participants"],
  bot2: ["Participant", "participants"],
  ch1: ["Channel", "channels"],
  ch2: ["Channel", "channels"],
  flow: ["Orchestration", "orchestrations"],
  shop: ["Account", "accounts"],
};

/** A change of the program, and the call at which its `up` is killed. */
export interface KillPoint {
  readonly to: Round;
  /** What is replaced by force, if it is there before and after. */
  readonly replaced: string | null;
  /** Which of the writes of the run. */
  readonly which: number;
  /** Whose process is killed: the command line alone, with all that it started, or the provider's alone. */
  readonly victim: "engine" | "all" | "provider";
  /** What becomes of the call: done and answered, done without an answer, or not done. */
  readonly answer: "given" | "drip" | "drop-after-commit" | "hang";
  /** Whether the lists show what was before, until the repair is over. */
  readonly lagging: boolean;
}

export const killPoint: fc.Arbitrary<KillPoint> = fc.record({
  to: round,
  replaced: fc.option(fc.constantFrom(...Object.keys(kinds)), { freq: 4 }),
  which: fc.nat(),
  victim: fc.constantFrom("engine", "all", "provider"),
  answer: fc.constantFrom("given", "drip", "drop-after-commit", "hang"),
  lagging: fc.boolean(),
});

/** A write of a run, as faults and the log call it. */
interface Write {
  readonly action: "create" | "update" | "delete" | "replace";
  readonly on: string;
}

const endpoint = (method: string, name: string): string => {
  const [, collection = ""] = kinds[name] ?? [];
  return method === "POST" ? `POST /${collection}` : `${method} /${collection}/{id}`;
};

/** What an `up` from one round to the next writes. */
const writesOf = (from: Round, to: Round, replaced: string | null): readonly Write[] => {
  const [before, after] = [new Set(from.names), new Set(to.names)];
  const staying = [...after].filter((name) => before.has(name));
  const isReplaced = replaced !== null && staying.includes(replaced);
  return [
    ...[...after]
      .filter((name) => !before.has(name))
      .map((name) => ({ action: "create" as const, on: endpoint("POST", name) })),
    ...[...before]
      .filter((name) => !after.has(name))
      .map((name) => ({ action: "delete" as const, on: endpoint("DELETE", name) })),
    ...(to.version === from.version ? [] : staying)
      .filter((name) => !isReplaced || name !== replaced)
      .map((name) => ({ action: "update" as const, on: endpoint("PUT", name) })),
    ...(isReplaced ? [{ action: "replace" as const, on: endpoint("PUT", replaced) }] : []),
  ];
};

/** Each action as often as another, however many calls are of it. */
const chosen = (writes: readonly Write[], which: number): Write | undefined => {
  const actions = [...Map.groupBy(writes, ({ action }) => action).values()];
  const count = Math.max(1, actions.length);
  const calls = actions[which % count] ?? [];
  return calls[Math.floor(which / count) % Math.max(1, calls.length)];
};

const replaceOptions = (replaced: string | null, { action }: Write): readonly string[] => {
  const [kind = ""] = kinds[replaced ?? ""] ?? [];
  const urn = `urn:pulumi:prod::shop::${typeToken(kind)}::${replaced}`;
  return action === "replace" ? ["--replace", urn] : [];
};

const lists = [...new Set(Object.values(kinds).map(([, collection]) => `GET /${collection}`))];
/** Longer than a run that is killed, and its repair, take. */
const lagMs = 3000;

/** An `up` that is killed at one of its calls. @returns what was killed; undefined: it ended before */
export const killedUp = async (
  project: EmulatedProject,
  from: Round,
  { to, replaced, which, victim, answer, lagging }: KillPoint,
): Promise<Write["action"] | undefined> => {
  const writes = writesOf(from, to, replaced);
  const write = chosen(writes, which);
  if (!write) return undefined;
  const count = async (): Promise<number> => {
    const log = await project.log();
    return log.filter(({ method, template }) => `${method} ${template}` === write.on).length;
  };
  const before = await count();
  if (answer !== "given") await project.faults({ on: write.on, kind: answer });
  if (lagging)
    await project.faults(
      ...lists.map((on) => ({ on, kind: "stale-list", ms: lagMs, times: 1000 })),
    );
  const { args, environment } = upOf(to);
  const options = replaceOptions(replaced, write);
  const { child, ended } = project.start([...args, ...options], environment);
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  while (!isOver && (await count()) === before) await pause(20);
  const wasKilled = !isOver;
  if (wasKilled && victim === "provider")
    for (const pid of descendants(child.pid ?? 0, "dynamic-provider")) process.kill(pid, "SIGKILL");
  if (wasKilled && victim === "engine") child.kill("SIGKILL");
  if (wasKilled && victim === "all") killTree(child);
  await over;
  return wasKilled ? write.action : undefined;
};

/** When a repair is killed, and what of it. */
interface RepairKill {
  /** While it reads the state, lists the service, lets go of the lock or writes the state. */
  readonly during: "stack export" | "GET" | "cancel" | "stack import";
  /** The command line alone, or with the Pulumi that it started. */
  readonly victim: "itself" | "all";
}

export const repairKill: fc.Arbitrary<RepairKill | null> = fc.option(
  fc.record({
    during: fc.constantFrom("stack export", "GET", "cancel", "stack import"),
    victim: fc.constantFrom("itself", "all"),
  }),
  { freq: 2 },
);

/** The command line of a process is its words with a NUL behind each. */
const wordsOf = (command: string): string => command.replace(" ", "\0");

/** A `repair --apply` that is killed. @returns whether it was: it may end before */
export const killedRepair = async (
  project: EmulatedProject,
  { during, victim }: RepairKill,
): Promise<boolean> => {
  const calls = (await project.log()).length;
  const child = project.startTool(["repair", "--apply"]);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const isReached = async (): Promise<boolean> =>
    during === "GET"
      ? (await project.log()).length > calls
      : descendants(child.pid ?? 0, wordsOf(during)).length > 0;
  while (child.exitCode === null && !(await isReached())) await pause(5);
  const wasKilled = child.exitCode === null;
  const below = descendants(child.pid ?? 0, "");
  if (wasKilled && victim === "all") killTree(child);
  if (wasKilled && victim === "itself") child.kill("SIGKILL");
  await ended;
  // A person who looks again finds them at work at first; this waits for them.
  while (below.some(isRunning)) await pause(20);
  return wasKilled;
};
