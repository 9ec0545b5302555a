import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { type ImportOptions, runImport, runImportFile } from "../../../cli/import/run-import.js";
import { startEmulator } from "../../../emulator/index.js";
import { withoutPace } from "../../support/cli-project.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { type OddAccount, oddAccount } from "../../support/odd-account.js";
import { shellScript, temporaryFolder } from "../temporary-folder.js";

interface SandboxOptions {
  readonly objects?: OddAccount;
  readonly version?: string;
  /** What `pulumi stack export` prints. */
  readonly state?: string;
  /** What `pulumi import` says when it fails, as it always does here. */
  readonly refusal?: string;
  /** The state of a second stack. */
  readonly other?: string;
}

const emptyState = JSON.stringify({ version: 3, deployment: { resources: [] } });

type Three = readonly [kind: string, name: string, id: string];

const isThree = (given: Three | readonly Three[]): given is Three => typeof given[0] === "string";

/** The commands that import, between an emulator and a CLI that prints what the test says. */
export const importSandbox = async (options: SandboxOptions = {}) => {
  const { objects = oddAccount(2), version = "3.259.0", state = emptyState, other } = options;
  const { refusal = "the disk is full" } = options;
  const folder = temporaryFolder();
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const control = new EmulatorControl(emulator);
  await control.control("PUT", "/snapshot", { version: 1, objects });
  mkdirSync(join(folder, ".pulumi", "stacks"), { recursive: true });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "state.json"), state);
  writeFileSync(join(folder, "other.json"), other ?? "");
  const names = other === undefined ? ["prod"] : ["prod", "other"];
  const list = JSON.stringify(names.map((name) => ({ name, current: name === "prod" })));
  writeFileSync(join(folder, "stacks.json"), list);
  shellScript(
    join(folder, "pulumi"),
    `cd ${folder}; echo "$*" >> calls`,
    `case "$*" in`,
    `version*) echo v${version};;`,
    `whoami*) echo '{"url":"file://${folder}"}';;`,
    `"stack --show-name"*) echo prod;;`,
    `"stack ls"*) cat stacks.json;;`,
    `"config"*) echo '{}';;`,
    `*"--stack other"*) cat other.json;;`,
    `"stack export"*) cat state.json;;`,
    `"import"*) echo 'error: ${refusal}' >&2; exit 255;;`,
    `*) exit 1;; esac`,
  );
  const env = {
    ...emulatorEnvironment(emulator),
    ...withoutPace,
    PATH: `${folder}:/bin:/usr/bin`,
    XDG_CACHE_HOME: folder,
  };
  return {
    ...{ folder, control },
    import: (more: Partial<ImportOptions> = {}) => runImport({ folder, env, ...more }),
    /** The import file of objects, each of kind, name and id. */
    file: (threes: Three | readonly Three[], isByName = false) =>
      runImportFile(
        (isThree(threes) ? [threes] : threes).map(([kind, name, id]) => ({
          kind,
          name,
          id,
          isByName,
        })),
        { folder, env },
      ),
  };
};
