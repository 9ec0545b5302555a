import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { type CliProject, cliProject } from "../support/cli-project.js";
import { type LimitedService, limitedService } from "../support/limited-service.js";
import { accountProgram, type DeclaredItem } from "../support/rehearsed-account.js";
import { certain } from "../support/rehearsed-program.js";
import { withSlowness } from "../support/slowness.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

let strict: StrictService;
let limited: LimitedService;
let project: CliProject;

/** One call per second and endpoint, as on the highest plan, and no burst. */
beforeAll(async () => {
  strict = await startStrictService();
  limited = await limitedService(strict.environment, 1);
  project = await cliProject(accountProgram, {
    ...limited.environment,
    CONVERSATION_PLAN: "enterprise",
    CONVERSATION_BURST: "1",
  });
});

afterAll(async () => {
  project?.remove();
  await limited?.close();
  await strict?.close();
});

const itemsOf = (bots: number, text: string): readonly DeclaredItem[] => [
  { kind: "auth", name: "auth", text, uses: [] },
  { kind: "app", name: "app", text, uses: ["auth"] },
  ...Array.from(
    { length: bots },
    (_, index): DeclaredItem => ({
      ...{ kind: "bot", name: `bot${index}`, text, uses: ["app"] },
    }),
  ),
];

/** Seconds from the first of these moments to the last. */
const span = (seconds: readonly number[]): number => Math.max(...seconds) - Math.min(...seconds);

test.each([
  ["creations", 8, "first"],
  ["updates and deletions", 4, "second"],
])("the time of %s is foretold within 5 %, or two seconds", async (_, bots, text) => {
  const SPEC = JSON.stringify(itemsOf(bots, text));
  const rehearsed = await withSlowness(() =>
    project.tool(["rehearse", "--json", ...certain], { SPEC }),
  );
  const { output, errors } = rehearsed.result;
  if (output === "") throw new Error(errors);
  const { outcome }: Rehearsal = JSON.parse(output);
  const from = limited.calls.length;
  const run = await withSlowness(() => project.pulumi(["up", "--yes", "--skip-preview"], { SPEC }));
  expect(run.result.code === 0 ? "" : run.result.output).toBe("");
  const calls = limited.calls.slice(from).filter(({ status }) => status !== 429);
  expect(outcome.totalCalls).toBe(calls.length);
  // From the first call to the last: how fast this machine starts Pulumi changes with what else it does.
  // Rehearsed time passes normally while the run computes, so a slow machine lengthens either of them.
  const foretold = span(outcome.calls.map(({ seconds }) => seconds));
  const took = span(calls.map(({ at }) => at / 1000));
  const timed = (seconds: number, { slowness }: { readonly slowness: number }): string =>
    `${seconds.toFixed(1)} s at slowness ${slowness.toFixed(1)}`;
  const detail = `foretold ${timed(foretold, rehearsed)}, took ${timed(took, run)}`;
  const leeway = Math.max(2, 0.05 * took);
  expect(foretold - took, detail).toBeLessThan(leeway * rehearsed.slowness);
  expect(took - foretold, detail).toBeLessThan(leeway * run.slowness);
  expect(outcome.totalSeconds).toBeGreaterThan(foretold);
});
