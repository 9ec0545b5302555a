import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { doorOfTests, doors } from "../support/door.js";
import { killTree } from "../support/processes.js";
import {
  type StrictService,
  startStrictService,
  type WriteFault,
} from "../support/strict-service.js";

/*
 * Rounds of a changing program on a service that shares no code with the emulator, with faults of its own and kills:
 * whatever strikes, the next `up` ends with exactly what is declared.
 */

/** WANT holds the names of the resources that the program declares, VERSION their content. */
const program = `
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

const always = ["auth", "app"];
const optional = ["bot1", "bot2", "ch1", "ch2", "flow", "shop"];

/** An account needs its channel and its orchestration. */
const complete = (names: readonly string[]): readonly string[] =>
  optional.filter(
    (name) => names.includes(name) || (names.includes("shop") && ["ch1", "flow"].includes(name)),
  );

/** Half of the answers are spoiled, and most lists lag behind; the writes are carried out all the same. */
const writeFault: fc.Arbitrary<WriteFault> = fc.record({
  answer: fc.option(fc.constantFrom("cut off", "500", "truncated"), { freq: 2 }),
  staleLists: fc.noBias(fc.integer({ min: 0, max: 3 })),
});

/** A change of the program, what strikes its `up`, and whether a person repairs before the next one. */
const round = fc.record({
  names: fc.subarray(optional).map((names) => [...always, ...complete(names)]),
  version: fc.nat(3),
  faults: fc.array(writeFault, { minLength: 6, maxLength: 20 }),
  killAfterCalls: fc.option(fc.noBias(fc.integer({ min: 1, max: 20 })), { freq: 4 }),
  isRepaired: fc.boolean(),
});

type Round = typeof round extends fc.Arbitrary<infer T> ? T : never;

/** How many rounds are played: more on demand. The plugin leads to the same rooms and gets half of them. */
const roundCount = Number(process.env.CHAOS_ROUNDS ?? 1);
const doorRounds = doors.map(
  (door) => [door, door === doorOfTests ? roundCount : Math.ceil(roundCount / 2)] as const,
);

/** The given seed; without one the same in every short run, another one in every long run. */
const { CHAOS_SEED: given, CHAOS_ROUNDS: long } = process.env;
const seed = Number(given ?? (long ? Date.now() % 2 ** 31 : 1069));

/** One object of somebody else in every collection; two stand close to ours by name or by mark. */
const foreign: Readonly<Record<string, { readonly id: string; readonly [name: string]: unknown }>> =
  {
    authentications: { id: "theirs-1", name: "theirs", type: "basic" },
    clientapplications: { id: "theirs-2", name: "theirs", roles: [] },
    participants: {
      id: "theirs-3",
      name: "theirs",
      type: "custom_bot",
      application: { id: "theirs-2" },
    },
    channels: { id: "theirs-4", type: "custom.ch3", displayName: "ch1", icon: "aVZC" },
    orchestrations: {
      id: "theirs-5",
      name: "theirs",
      description: "version 1 [pulumi: other/prod flow #01234567-0123456789ab]",
      applications: {},
    },
    accounts: {
      id: "theirs-6",
      name: "theirs",
      address: "theirs",
      channel: { id: "theirs-4" },
      chatConfigurations: { orchestration: { id: "theirs-5" } },
    },
  };

const collections = Object.keys(foreign);

/** Logical names of our objects in that version, from their marks. */
const namesOf = (
  objects: readonly { readonly description?: unknown }[],
  version: number,
): readonly string[] =>
  objects
    .map(({ description }) => String(description))
    .map((text) => text.match(/^version (\d) \[pulumi: shop\/prod (\w+) #/) ?? [])
    .map(([, of, name]) => (of === String(version) ? String(name) : "of another version"))
    .sort();

const up = ["up", "--yes", "--skip-preview"];

describe.each(doorRounds)("%s", (door, count) => {
  let service: StrictService;
  let project: CliProject;
  let [kills, repairs] = [0, 0];

  beforeAll(async () => {
    service = await startStrictService();
    for (const [collection, object] of Object.entries(foreign)) service.plant(collection, object);
    const environment = { ...service.environment, ...withoutPace };
    project = await cliProject(program, environment, { door });
  });

  afterAll(async () => {
    project?.remove();
    await service?.close();
  });

  /** What the service holds, but for what was there from the beginning. */
  const own = () =>
    collections.flatMap((collection) =>
      service.objects(collection).filter(({ id }) => id !== foreign[collection]?.id),
    );

  const expectForeignUntouched = (): void => {
    for (const [collection, object] of Object.entries(foreign))
      expect(service.objects(collection)).toContainEqual(object);
  };

  /** An `up` that is killed with all its processes when so many calls have arrived. @returns whether it was */
  const disturbedUp = async (
    killAfterCalls: number | null,
    environment: Readonly<Record<string, string>>,
  ): Promise<boolean> => {
    const { child, ended } = project.start(up, environment);
    if (killAfterCalls === null) return ended.then(() => false);
    const over = new AbortController();
    await Promise.race([ended, service.arrived(killAfterCalls, over.signal)]);
    over.abort();
    killTree(child);
    await ended;
    return child.signalCode === "SIGKILL";
  };

  /** A repair leaves no creation under way, and makes nothing. */
  const repair = async (): Promise<void> => {
    const before = own().length;
    await project.release();
    const { code, output, errors } = await project.tool(["repair", "--apply", "--json"]);
    expect(code, errors).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ left: [] });
    expect(project.held().pending.filter(({ type }) => type === "creating")).toEqual([]);
    expect(own().length).toBeLessThanOrEqual(before);
    repairs += 1;
  };

  /**
   * Where names need not be unique, and a list was behind the truth between two POSTs, one more object
   * with our mark may be there (docs/guarantees.md): the tool finds it by its mark.
   */
  const removeTwins = async (): Promise<void> => {
    if (!service.faults.lagged.has("orchestrations")) return;
    const { code, output } = await project.tool(["orphans", "--delete", "--json"]);
    expect(code).toBe(0);
    for (const { kind } of JSON.parse(output) as { kind: string }[])
      expect(kind).toBe("Orchestration");
  };

  /** The service carries out every POST, so none is sent again, unless its list was behind the truth. */
  const expectNothingPostedTwice = (calls: StrictService["calls"]): void => {
    const sent = calls.filter(
      ({ method, path }) => method === "POST" && !service.faults.lagged.has(path.slice(1)),
    );
    const labels = sent.map(({ body }) => /\[pulumi: .* #/.exec(String(body?.description))?.[0]);
    expect(labels).toEqual([...new Set(labels)]);
  };

  const play = async (played: Round): Promise<void> => {
    const { names, version, faults, killAfterCalls, isRepaired } = played;
    const environment = { WANT: names.join(), VERSION: String(version) };
    service.faults.plan(faults);
    const callsBefore = service.calls.length;
    const isKilled = await disturbedUp(killAfterCalls, environment);
    if (isKilled) kills += 1;
    expectNothingPostedTwice(service.calls.slice(callsBefore));
    expectForeignUntouched();
    service.faults.calm();
    if (isKilled && isRepaired) await repair();
    else await project.release();
    await project.succeed(up, environment);
    await removeTwins();
    expectForeignUntouched();
    expect(namesOf(own(), version)).toEqual([...names].sort());
  };

  test(`${count} rounds of faults and kills end with exactly what is declared`, {
    timeout: count * 600_000,
  }, async () => {
    for (const [number, each] of fc.sample(round, { numRuns: count, seed }).entries())
      await play(each).catch((cause: unknown) => {
        const at = `CHAOS_SEED=${seed}, round ${number}: ${JSON.stringify(each)}`;
        throw new Error(at, { cause });
      });
    await project.succeed(["destroy", "--yes", "--skip-preview"]);
    console.log(`seed ${seed}: ${JSON.stringify({ kills, repairs, ...service.faults.struck })}`);
    if (!long) expect([kills, repairs]).toEqual([1, 1]);
    expect(own()).toEqual([]);
    expectForeignUntouched();
  });
});
