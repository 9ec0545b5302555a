import { styleText } from "node:util";
import { startEmulator } from "../../emulator/index.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";
import { emulatorEnvironment } from "../emulator-settings.js";
import { Failure } from "../failure.js";
import { tryLock } from "../process/file-lock.js";
import { ensurePulumi } from "../pulumi-cli/ensure-pulumi.js";
import { type ProgressStream, progressOn } from "../terminal/progress.js";
import { objectTable, readObjects, type ServiceObject } from "./object-table.js";
import { interrupted, type PulumiProject, pulumiProject } from "./pulumi-project.js";
import { type StateFolder, stateFolder } from "./state-folder.js";

export interface QuickstartOptions {
  /** Folder of the checkout. */
  readonly root: string;
  /** Take down instead of set up. */
  readonly destroy: boolean;
  /** Aborting ends everything that was started. */
  readonly signal: AbortSignal;
  readonly stream: ProgressStream;
}

/** A quick start under way: where it writes, and what it has started. */
interface Scene {
  readonly state: StateFolder;
  readonly print: (line: string) => void;
  readonly title: (text: string) => void;
  readonly pulumi: PulumiProject;
  readonly objects: () => Promise<readonly ServiceObject[]>;
}

const PLAN = "enterprise";

type Environment = Readonly<Record<string, string>>;

const readFromService = async (environment: Environment): Promise<readonly ServiceObject[]> => {
  const service = connectService(readSettings({ environment, config: () => undefined }));
  try {
    return await readObjects(service);
  } finally {
    await service.close();
  }
};

const showObjects = async ({ print, title, objects }: Scene): Promise<void> => {
  const found = await objects();
  title("What the service holds now");
  const lines = found.length === 0 ? ["nothing"] : objectTable(found);
  for (const line of lines) print(`  ${line}`);
};

const setUp = async (scene: Scene): Promise<void> => {
  const { print, title, pulumi } = scene;
  title("pulumi up");
  await pulumi.show("up", "--yes");
  await showObjects(scene);
  title("pulumi preview: the program and the service agree");
  await pulumi.show("preview", "--expect-no-changes");
  title("What to try next");
  print("  Change examples/default-account/index.ts, then run: npm run quickstart");
  print("  Take it all down:      npm run quickstart -- --destroy");
  print("  Run the emulator:      npm run emulator");
  print(
    "  Use a real service:    README.md, Configuration; npx pulumi-conversation doctor checks it",
  );
};

const takeDown = async (scene: Scene): Promise<void> => {
  const { print, title, pulumi, state } = scene;
  title("pulumi destroy");
  await pulumi.show("destroy", "--yes", "--skip-preview");
  await showObjects(scene);
  await pulumi.removeStack();
  state.remove();
  print("\nThe stack and the folder .quickstart are gone. npm run quickstart starts afresh.");
};

const play = async (options: QuickstartOptions, state: StateFolder): Promise<void> => {
  const { signal, stream, destroy } = options;
  const coloured = stream.isTTY === true && !process.env.NO_COLOR;
  const print = (line: string) => void stream.write(`${line}\n`);
  const title = (text: string) =>
    print(`\n${coloured ? styleText("bold", text, { validateStream: false }) : text}`);
  const progress = progressOn(stream);
  const cli = await ensurePulumi({ progress, signal });
  print(`Pulumi ${cli.version} from ${cli.origin}: ${cli.command}`);
  state.prepare();
  const emulator = await startEmulator({ port: 0, plan: PLAN, data: state.data });
  try {
    if (signal.aborted) throw interrupted();
    print(`Emulator of the conversation service, plan ${PLAN}: ${emulator.baseUrl}`);
    const settings = emulatorEnvironment(emulator, PLAN);
    const pulumi = pulumiProject({ cli, state, settings, signal, print, coloured });
    await pulumi.ready();
    const objects = () => readFromService(settings);
    await (destroy ? takeDown : setUp)({ state, print, title, pulumi, objects });
  } finally {
    await emulator.close();
  }
};

/**
 * The whole way from nothing to a conversation account: Pulumi, the emulator, `pulumi up` on the
 * default example, what then exists, and a preview without changes. Or back.
 *
 * @throws Failure that says what went wrong and what to do; nothing that was started is left running
 */
export const runQuickstart = async (options: QuickstartOptions): Promise<void> => {
  const state = stateFolder(options.root);
  if (options.destroy && !state.hasStack()) {
    options.stream.write("There is nothing to take down: no quick start has run here.\n");
    return;
  }
  const lock = tryLock(state.lock);
  if (!lock.release)
    throw new Failure(
      `Another quick start runs in this folder: ${lock.heldBy}. Wait for it, or end it.`,
    );
  try {
    await play(options, state);
  } finally {
    lock.release();
  }
};
