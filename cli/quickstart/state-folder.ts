import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export const STACK = "quickstart";

/** Everything that the quick start keeps between runs, in one folder that git ignores. */
export interface StateFolder {
  readonly root: string;
  readonly folder: string;
  /** Objects of the emulator. */
  readonly data: string;
  /** Configuration of the stack, kept out of the repository's root. */
  readonly configFile: string;
  /** Held while a quick start runs. */
  readonly lock: string;
  /** Whether a stack was made that has not been taken down. */
  hasStack(): boolean;
  /** Whether an interrupted run of Pulumi left its lock behind. */
  hasStaleLock(): boolean;
  /** Makes the folder, with a copy of the project file for commands that write beside it. */
  prepare(): void;
  /** Removes the folder and all that is in it. */
  remove(): void;
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

/** The state folder of a checkout of this package. */
export const stateFolder = (root: string): StateFolder => {
  const folder = join(root, ".quickstart");
  const backend = (name: string) => filesIn(join(folder, ".pulumi", name));
  return {
    root,
    folder,
    data: join(folder, "emulator.db"),
    configFile: join(folder, `Pulumi.${STACK}.yaml`),
    lock: join(root, ".quickstart", "running"),
    hasStack: () => backend("stacks").some((name) => name.endsWith(`${STACK}.json`)),
    hasStaleLock: () => backend("locks").some((name) => name.endsWith(".json")),
    prepare: () => {
      mkdirSync(folder, { recursive: true });
      copyFileSync(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
