import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  chaosProgram,
  cleanUp,
  disturbedUp,
  doorRounds,
  namesOf,
  playRounds,
  type Round,
  round,
} from "../support/chaos-rounds.js";
import { type CliProject, cliProject } from "../support/cli-project.js";
import {
  type StrictService,
  startStrictService,
  type WriteFault,
} from "../support/strict-service.js";

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

/** Half of the answers are spoiled, and most lists lag behind; the writes are carried out all the same. */
const writeFault: fc.Arbitrary<WriteFault> = fc.record({
  answer: fc.option(fc.constantFrom("cut off", "500", "truncated"), { freq: 2 }),
  staleLists: fc.noBias(fc.integer({ min: 0, max: 3 })),
});

const disturbedRound = fc.record({
  played: round,
  faults: fc.array(writeFault, { minLength: 6, maxLength: 20 }),
});

describe.each(doorRounds)("%s", (door, count) => {
  let service: StrictService;
  let project: CliProject;
  let kills = 0;

  beforeAll(async () => {
    service = await startStrictService();
    for (const [collection, object] of Object.entries(foreign)) service.plant(collection, object);
    project = await cliProject(chaosProgram, service.environment, { door });
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

  const play = async (played: Round, faults: readonly WriteFault[]): Promise<void> => {
    service.faults.plan(faults);
    if (await disturbedUp(project, played, service)) kills += 1;
    expectForeignUntouched();
    service.faults.calm();
    await cleanUp(project, played);
    await removeTwins();
    expectForeignUntouched();
    expect(namesOf(own(), played.version)).toEqual([...played.names].sort());
  };

  test(`${count} rounds of a service with faults of its own and of kills end with exactly what is declared`, {
    timeout: count * 600_000,
  }, async () => {
    await playRounds(project, { of: disturbedRound, count }, ({ played, faults }) =>
      play(played, faults),
    );
    console.log(`what struck: ${JSON.stringify({ kills, ...service.faults.struck })}`);
    expect(own()).toEqual([]);
    expectForeignUntouched();
  });
});
