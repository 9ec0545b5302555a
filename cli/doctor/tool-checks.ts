import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { findProgram, inspectPulumi } from "../pulumi-cli/pulumi-cli.js";
import { LEAST_PULUMI } from "../pulumi-cli/releases.js";
import { isAtLeast } from "../version-number.js";
import { type CheckResult, fail, ok, warn } from "./check.js";

const LEAST_NODE = "22.19";
const BEST_NODE = "24";
const LEAST_SDK = "3.216.0";

/** Node: new enough, and able to share rate limits between processes. */
export const checkNode = (version = process.versions.node): CheckResult => {
  if (!isAtLeast(version, LEAST_NODE))
    return fail("node", `Node ${version} is older than ${LEAST_NODE}`, "Install Node 24.");
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
export const checkSdk = (folder: string): CheckResult => {
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
export const checkPulumi = async (env: NodeJS.ProcessEnv): Promise<CheckResult> => {
  const install = `Install Pulumi ${LEAST_PULUMI} or newer: https://www.pulumi.com/docs/install/`;
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined) return fail("pulumi-cli", "no pulumi on PATH", install);
  const inspected = await inspectPulumi(command, "PATH", env);
  if ("unusable" in inspected) return fail("pulumi-cli", inspected.unusable, install);
  return ok("pulumi-cli", `Pulumi ${inspected.cli.version} (${command})`);
};
