import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export const STACK = "quickstart";

/** The projects that are set up, in this order: their names, and where in the checkout their project files are. */
const PROJECTS = { "default-account": ".", "orders-bot": "examples/orders-bot" } as const;

export type ProjectName = keyof typeof PROJECTS;

/** What the quick start keeps of one Pulumi project. */
export interface ProjectState {
  readonly name: ProjectName;
  /** Folder of the project file in the checkout. */
  readonly source: string;
  /** Folder with a copy of the project file, for commands that write beside it. */
  readonly folder: string;
  /** Configuration of the stack, kept out of the sources. */
  readonly configFile: string;
  /** Whether a stack was made that has not been taken down. */
  hasStack(): boolean;
  /** Whether an interrupted run of Pulumi left its lock behind. */
  hasStaleLock(): boolean;
}

/** Everything that the quick start keeps between runs, in one folder that git ignores. */
export interface StateFolder {
  readonly root: string;
  readonly folder: string;
  /** Objects of the emulator. */
  readonly data: string;
  /** Held while a quick start runs. */
  readonly lock: string;
  readonly projects: readonly ProjectState[];
  project(name: ProjectName): ProjectState;
  /** Makes the folder, with copies of the project files. */
  prepare(): void;
  /** Removes the folder and all that is in it. */
  remove(): void;
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

const projectState = (root: string, state: string, name: ProjectName): ProjectState => {
  const folder = join(state, name);
  const locks = join(state, ".pulumi", "locks", "organization", name, STACK);
  return {
    name,
    source: join(root, PROJECTS[name]),
    folder,
    configFile: join(folder, `Pulumi.${STACK}.yaml`),
    hasStack: () => existsSync(join(state, ".pulumi", "stacks", name, `${STACK}.json`)),
    hasStaleLock: () => filesIn(locks).some((file) => file.endsWith(".json")),
  };
};

const isProject = (name: string): name is ProjectName => Object.hasOwn(PROJECTS, name);

/** The state folder of a checkout of this package. */
export const stateFolder = (root: string): StateFolder => {
  const folder = join(root, ".quickstart");
  const project = (name: ProjectName) => projectState(root, folder, name);
  const projects = Object.keys(PROJECTS).filter(isProject).map(project);
  return {
    root,
    folder,
    data: join(folder, "emulator.db"),
    lock: join(folder, "running"),
    projects,
    project,
    prepare: () => {
      for (const { source, folder: copies } of projects) {
        mkdirSync(copies, { recursive: true });
        copyFileSync(join(source, "Pulumi.yaml"), join(copies, "Pulumi.yaml"));
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
