import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import type { CliProject } from "./cli-project.js";
import { doorOfTests, doors } from "./door.js";
import { killTree } from "./processes.js";

/** WANT holds the names of the resources that the program declares, VERSION their content. */
export const chaosProgram = `
const c = require("pulumi-conversation");
const want = new Set((process.env.WANT ?? "").split(","));
const description = "version " + process.env.VERSION;
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const authentication = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "p" } });
const app = new c.ClientApplication("app", { description, roles: [{ ...role, authentication }] });
const make = {
  bot1: () => new c.Participant("bot1", { description, type: "custom_bot", application: app }),
  bot2: () => new c.Participant("bot2", { description, type: "custom_bot", application: app }),
  ch1: () => new c.Channel("ch1", { description, type: "custom.ch1", displayName: "ch1", icon: "aVZC" }),
  ch2: () => new c.Channel("ch2", { description, type: "custom.ch2", displayName: "ch2", icon: "aVZC" }),
  flow: () => new c.Orchestration("flow", { description, applications: { agentConfiguration: { agents: [app] } } }),
  shop: () => new c.Account("shop", { description, address: "shop-01", channel: made.ch1,
    chatConfigurations: { orchestration: made.flow, entryPoint: "1007", timeout: 30 } }),
};
const made = {};
for (const name of Object.keys(make)) if (want.has(name)) made[name] = make[name]();
`;

/** What every round declares beside what it chooses. */
const always = ["auth", "app"];
const optional = ["bot1", "bot2", "ch1", "ch2", "flow", "shop"];

/** An account needs its channel and its orchestration. */
const complete = (names: readonly string[]): readonly string[] =>
  optional.filter(
    (name) => names.includes(name) || (names.includes("shop") && ["ch1", "flow"].includes(name)),
  );

/** When the run is killed: so long after its start, or when so many calls have arrived. */
export type Kill = { readonly afterMs: number } | { readonly afterCalls: number };

/** A change of the program, and the moment at which its `up` is killed, if it is. */
export interface Round {
  readonly names: readonly string[];
  readonly version: number;
  readonly kill: Kill | null;
}

export const round: fc.Arbitrary<Round> = fc.record({
  names: fc.subarray(optional).map((names) => [...always, ...complete(names)]),
  version: fc.nat(3),
  kill: fc.option(
    fc.oneof(
      fc.record({ afterMs: fc.noBias(fc.integer({ min: 200, max: 5000 })) }),
      fc.record({ afterCalls: fc.noBias(fc.integer({ min: 1, max: 20 })) }),
    ),
    { freq: 4 },
  ),
});

/** How many rounds are played: more on demand. */
export const roundCount = Number(process.env.CHAOS_ROUNDS ?? 1);

/** The doors with their rounds: the plugin leads to the same rooms and gets half of them. */
export const doorRounds = doors.map(
  (door) => [door, door === doorOfTests ? roundCount : Math.ceil(roundCount / 2)] as const,
);

/** The given seed; without one the same in every short run, another one in every long run. */
const chaosSeed = (): number => {
  const { CHAOS_SEED: given, CHAOS_ROUNDS: long } = process.env;
  const seed = Number(given ?? (long ? Date.now() % 2 ** 31 : 20_261_124));
  console.log(`chaos seed ${seed}: again with CHAOS_SEED=${seed} CHAOS_ROUNDS=${roundCount}`);
  return seed;
};

const environmentOf = ({ names, version }: Round) => ({
  WANT: names.join(),
  VERSION: String(version),
});

/** Calls that arrive at the service. */
export interface Arrivals {
  /** Settles when so many more calls have arrived, or on the signal. */
  readonly arrived: (count: number, signal: AbortSignal) => Promise<void>;
}

const up = ["up", "--yes", "--skip-preview"];

/** How the command line is called for a round. */
export const upOf = (played: Round) => ({ args: up, environment: environmentOf(played) });

const momentOf = (kill: Kill, { arrived }: Arrivals, signal: AbortSignal): Promise<void> =>
  "afterMs" in kill ? pause(kill.afterMs) : arrived(kill.afterCalls, signal);

/**
 * `pulumi up` that is killed (kill -9) at that moment, if it still runs.
 *
 * @param whole with all its processes; else they outlive it
 * @returns whether it was killed
 */
export const disturbedUp = async (
  project: CliProject,
  played: Round,
  arrivals: Arrivals,
  whole = true,
): Promise<boolean> => {
  const { child, ended } = project.start(up, environmentOf(played));
  if (played.kill) {
    const over = new AbortController();
    await Promise.race([ended, momentOf(played.kill, arrivals, over.signal)]);
    over.abort();
    if (whole) killTree(child);
    else child.kill("SIGKILL");
  }
  await ended;
  return child.signalCode === "SIGKILL";
};

/** One clean `up` after it; fails with what the engine said. */
export const cleanUp = async (project: CliProject, played: Round): Promise<void> => {
  await project.release();
  const { code, output } = await project.pulumi(up, environmentOf(played));
  if (code !== 0) throw new Error(output);
};

/** Plays random rounds, then destroys what is there; a failure tells its seed and its round. */
export const playRounds = async <Each extends { readonly played: Round }>(
  project: CliProject,
  rounds: { readonly of: fc.Arbitrary<Each>; readonly count: number },
  play: (each: Each) => Promise<void>,
): Promise<void> => {
  const seed = chaosSeed();
  for (const [number, each] of fc.sample(rounds.of, { numRuns: rounds.count, seed }).entries())
    await play(each).catch((cause: unknown) => {
      throw new Error(`seed ${seed}, round ${number}: ${JSON.stringify(each.played)}`, { cause });
    });
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
};

/** Logical names of our objects in that version, from their marks. */
export const namesOf = (
  objects: readonly { readonly description?: unknown }[],
  version: number,
): readonly string[] =>
  objects
    .map(({ description }) => String(description))
    .map((text) => text.match(/^version (\d) \[pulumi: shop\/prod (\w+) #/) ?? [])
    .map(([, given, name]) => (given === String(version) ? String(name) : "of another version"))
    .sort();
