import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnose } from "../../cli/doctor/diagnose.js";
import { recommendedParallel } from "../../provider/forecast/forecast.js";
import { defaultParallel } from "../../provider/forecast/simulation.js";
import { shellScript, temporaryFolder } from "../cli/temporary-folder.js";
import { programs, stateOf } from "./support/program.js";

test.each([
  [{}, 8],
  [{ GOMAXPROCS: "4" }, 16],
  [{ PULUMI_PARALLEL: "3", GOMAXPROCS: "4" }, 3],
])("with %j on two cores Pulumi runs %d steps together", (env, parallel) => {
  expect(defaultParallel(env, 2)).toBe(parallel);
});

test("more slots do not help where one endpoint is the whole work", () => {
  expect(recommendedParallel("developer", { Participant: 200 }, 8)).toBe(8);
});

test("several endpoints with long queues need slots for all of them", () => {
  const counts = { Channel: 40, Authentication: 40, ClientApplication: 40 };
  expect(recommendedParallel("basic", counts, 8)).toBeGreaterThanOrEqual(64);
});

test("a stack that the bursts take whole needs nothing", () => {
  expect(recommendedParallel("enterprise", { Channel: 12, Account: 12 }, 8)).toBe(8);
});

const doctored = async (state: string) => {
  const bin = temporaryFolder();
  const file = join(bin, "state.json");
  writeFileSync(file, state);
  shellScript(join(bin, "pulumi"), `cat ${file}`);
  const env = {
    PATH: `${bin}:/bin:/usr/bin`,
    CONVERSATION_PLAN: "developer",
    PULUMI_PARALLEL: "8",
  };
  const { checks } = await diagnose({ folder: temporaryFolder(), env });
  return checks.find(({ name }) => name === "parallel");
};

test("doctor names a number of parallel steps where it would help", async () => {
  expect(await doctored(stateOf(programs.wide))).toEqual({
    name: "parallel",
    status: "ok",
    message:
      "Pulumi runs 8 steps together: with the stack's 36 objects, steps that wait for one endpoint hold up others",
    advice: "Set PULUMI_PARALLEL=32, or run pulumi with --parallel 32.",
  });
});

test("doctor gives no advice where the number will do", async () => {
  expect(await doctored(stateOf(programs["30 participants"]))).toMatchObject({ advice: "" });
  expect((await doctored("nothing"))?.message).toContain("the command forecast says whether");
});
