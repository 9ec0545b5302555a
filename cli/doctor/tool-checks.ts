import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { leastNode } from "../../provider/kernel/node-version.js";
import { type Plan, plan as planRule } from "../../provider/service/setting-table.js";
import { type SettingSource, settingNames } from "../../provider/service/settings.js";
import type { PulumiResource } from "../forecast/documents.js";
import { countKinds } from "../forecast/planned-steps.js";
import { recommendedParallel } from "../forecast/recommended-parallel.js";
import { defaultParallel } from "../forecast/simulation/engine.js";
import { missingPulumiAdvice } from "../pulumi-cli/ensure-pulumi.js";
import { findProgram, hostLimits, inspectPulumi, isAtLeast } from "../pulumi-cli/pulumi-cli.js";
import { type DoctorCheck, fail, ok, warn } from "./check.js";

const BEST_NODE = "24";
const LEAST_SDK = "3.216.0";

/** Node: new enough, and able to share rate limits between processes. */
export const checkNode = (version = process.versions.node): DoctorCheck => {
  if (!isAtLeast(version, leastNode))
    return fail("node", `Node ${version} is older than ${leastNode}`, "Install Node 24.");
  if (!isAtLeast(version, `${BEST_NODE}.0`))
    return ok(
      "node",
      `Node ${version}; from Node ${BEST_NODE} on, processes share their rate limits`,
    );
  return ok("node", `Node ${version}`);
};

const sdkVersionFrom = (folder: string): string | undefined => {
  try {
    const path = createRequire(join(folder, "index.js")).resolve("@pulumi/pulumi/package.json");
    return String(JSON.parse(readFileSync(path, "utf8")).version);
  } catch {
    return undefined;
  }
};

/** The Pulumi SDK that a program in this folder would load. */
export const checkSdk = (folder: string): DoctorCheck => {
  const version = sdkVersionFrom(folder);
  const install = 'Run: npm install "@pulumi/pulumi@^3"';
  if (version === undefined)
    return warn("pulumi-sdk", `@pulumi/pulumi is not installed for ${folder}`, install);
  if (!isAtLeast(version, LEAST_SDK) || isAtLeast(version, "4.0.0"))
    return fail(
      "pulumi-sdk",
      `@pulumi/pulumi ${version}; needed: ${LEAST_SDK} or newer, below 4`,
      install,
    );
  return ok("pulumi-sdk", `@pulumi/pulumi ${version}`);
};

/** The Pulumi CLI on PATH, with what it needs to run TypeScript programs. */
export const checkPulumi = async (env: NodeJS.ProcessEnv): Promise<DoctorCheck> => {
  const install = missingPulumiAdvice(env);
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined) return fail("pulumi-cli", "no pulumi on PATH", install);
  const inspected = await inspectPulumi(command, "PATH", env);
  if ("unusable" in inspected) return fail("pulumi-cli", inspected.unusable, install);
  const found = `Pulumi ${inspected.cli.version} (${command})`;
  const limits = hostLimits(inspected.cli, env);
  return limits === undefined ? ok("pulumi-cli", found) : warn("pulumi-cli", found, limits);
};

const planOf = ({ environment, config }: SettingSource): Plan => {
  const names = settingNames("plan");
  const parsed = planRule((environment[names.environment] ?? config(names.config) ?? "").trim());
  return "value" in parsed ? parsed.value : "enterprise";
};

/** Whether Pulumi runs enough steps together for the objects of the stack: advice only. */
export const checkParallel = (
  held: readonly PulumiResource[],
  source: SettingSource,
): DoctorCheck => {
  const name = "parallel";
  const now = defaultParallel(source.environment);
  const counts = countKinds(held);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const best = recommendedParallel(planOf(source), counts, now);
  const together = `Pulumi runs ${now} steps together`;
  if (total === 0)
    return ok(name, `${together}; the command forecast says whether more would be faster`);
  if (best === now) return ok(name, `${together}: enough for the stack's ${total} objects`);
  return ok(
    name,
    `${together}: with the stack's ${total} objects, steps that wait for one endpoint hold up others`,
    `Set PULUMI_PARALLEL=${best}, or run pulumi with --parallel ${best}.`,
  );
};
