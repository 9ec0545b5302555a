import { createRequire } from "node:module";
import { PulumiCommand } from "@pulumi/pulumi/automation/cmd.js";
import { release } from "./get-pulumi.js";

/** Time limit for an answer of the installer's address. */
const PROBE_MS = 10_000;

/** `semver` in the copy that the Automation API itself uses. */
const ownSemver = (): typeof import("semver") =>
  createRequire(require.resolve("@pulumi/pulumi/package.json"))("semver");

const main = async (root: string | undefined): Promise<void> => {
  if (!root) throw new Error("The installation folder is missing.");
  await fetch(release.installer, { method: "HEAD", signal: AbortSignal.timeout(PROBE_MS) }).catch(
    () => Promise.reject(new Error(`cannot reach ${new URL(release.installer).host}`)),
  );
  const { SemVer } = ownSemver();
  await PulumiCommand.install({ version: new SemVer(release.version), root });
};

main(process.argv[2]).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
