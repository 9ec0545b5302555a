import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export const STACK = "quickstart";

/** The projects that are set up, in this order: their names, and where in the checkout their project files are. */
const PROJECTS = { "default-account": ".", "orders-bot": "examples/orders-bot" } as const;

export type ProjectName = keyof typeof PROJECTS;

const isProject = (name: string): name is ProjectName => Object.hasOwn(PROJECTS, name);

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];

const projectState = (root: string, state: string, name: ProjectName) => {
  const folder = join(state, name);
  const locks = join(state, ".pulumi", "locks", "organization", name, STACK);
  return {
    name,
    /** Folder of the project file in the checkout. */
    source: join(root, PROJECTS[name]),
    /** Folder with a copy of the project file, for commands that write beside it. */
    folder,
    /** Configuration of the stack, kept out of the sources. */
    configFile: join(folder, `Pulumi.${STACK}.yaml`),
    /** Whether a stack was made that has not been taken down. */
    hasStack: (): boolean => existsSync(join(state, ".pulumi", "stacks", name, `${STACK}.json`)),
    /** Whether an interrupted run of Pulumi left its lock behind. */
    hasStaleLock: (): boolean => filesIn(locks).some((file) => file.endsWith(".json")),
  } as const;
};

/** What the quick start keeps of one Pulumi project. */
export type ProjectState = ReturnType<typeof projectState>;

/** Everything that the quick start of a checkout keeps between runs, in one folder that git ignores. */
export const stateFolder = (root: string) => {
  const folder = join(root, ".quickstart");
  const project = (name: ProjectName): ProjectState => projectState(root, folder, name);
  const projects = Object.keys(PROJECTS).filter(isProject).map(project);
  return {
    root,
    folder,
    /** Objects of the emulator. */
    data: join(folder, "emulator.db"),
    /** Held while a quick start runs. */
    lock: join(folder, "running"),
    projects,
    project,
    /** Makes the folder, with copies of the project files. */
    prepare: (): void => {
      for (const { source, folder: copies } of projects) {
        mkdirSync(copies, { recursive: true });
        copyFileSync(join(source, "Pulumi.yaml"), join(copies, "Pulumi.yaml"));
      }
    },
    /** Removes the folder and all that is in it. */
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  } as const;
};

export type StateFolder = ReturnType<typeof stateFolder>;
