import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { privateFolder } from "../../../cli/process/private-folder.js";

/** A folder of its own for the stack of a test. */
export interface StackFolder {
  /** Where Pulumi runs. */
  readonly project: string;
  /** Where the state is. */
  readonly state: string;
  /** What Pulumi keeps in the home folder otherwise: credentials, logs, selected stacks. */
  readonly home: string;
  remove(): void;
}

/** Makes it, and removes those of tests that were killed. */
export const createStackFolder = (): StackFolder => {
  const { folder, remove } = privateFolder("conversation-test-");
  const made = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const home = made("home");
  const plugins = join(process.env.PULUMI_HOME || join(homedir(), ".pulumi"), "plugins");
  mkdirSync(plugins, { recursive: true });
  symlinkSync(plugins, join(home, "plugins"), "junction");
  return { project: made("project"), state: made("state"), home, remove };
};
