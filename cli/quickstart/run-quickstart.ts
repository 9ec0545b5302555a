import { styleText } from "node:util";
import { startEmulator } from "../../emulator/index.js";
import { CommandFailure } from "../command.js";
import { emulatorEnvironment } from "../emulator-settings.js";
import { tryLock } from "../process/file-lock.js";
import { ensurePulumi } from "../pulumi-cli/ensure-pulumi.js";
import { hostLimits } from "../pulumi-cli/pulumi-cli.js";
import { wantsColour } from "../terminal/colour.js";
import { wrappedText } from "../terminal/columns.js";
import { type ProgressStream, progressOn } from "../terminal/progress.js";
import { endLeftovers, interrupted } from "./pulumi-project.js";
import { setUp, takeDown } from "./set-up.js";
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

const PLAN = "enterprise";

/** How a quick start speaks to whoever watches it. */
const voice = (stream: ProgressStream) => {
  const coloured = wantsColour(stream);
  const print = (line: string) => void stream.write(`${line}\n`);
  const title = (text: string) =>
    print(`\n${coloured ? styleText("bold", text, { validateStream: false }) : text}`);
  return { coloured, print, title };
};

const play = async (options: QuickstartOptions, state: StateFolder): Promise<void> => {
  const { signal, stream, destroy } = options;
  const { coloured, print, title } = voice(stream);
  const progress = progressOn(stream);
  const cli = await ensurePulumi({ progress, signal });
  print(`Pulumi ${cli.version} from ${cli.origin}:\n  ${cli.command}`);
  const limits = hostLimits(cli, process.env);
  if (limits !== undefined) print(wrappedText(limits, "  ").join("\n"));
  endLeftovers(state.folder);
  state.prepare();
  const emulator = await startEmulator({ plan: PLAN, data: state.data, controlSecret: true });
  try {
    if (signal.aborted) throw interrupted();
    print(`Emulator of the conversation service, plan ${PLAN}:\n  ${emulator.baseUrl}`);
    const settings = emulatorEnvironment(emulator, PLAN);
    const { folder } = state;
    const context = {
      state,
      cli,
      folder,
      settings,
      signal,
      print,
      title,
      coloured,
      alive: progress.alive,
    };
    await (destroy ? takeDown : setUp)(context);
  } finally {
    await emulator.close();
  }
};

/**
 * The whole way from nothing to a conversation: Pulumi, the emulator, `pulumi up` on the examples,
 * what then exists, a preview without changes, and a conversation on the account of a bot. Or back.
 *
 * @throws CommandFailure that says what went wrong and what to do; nothing that was started is left running
 */
export const runQuickstart = async (options: QuickstartOptions): Promise<void> => {
  const state = stateFolder(options.root);
  if (options.destroy && !state.projects.some((project) => project.hasStack())) {
    options.stream.write("There is nothing to take down: no quick start has run here.\n");
    return;
  }
  const lock = tryLock(state.lock);
  if (!lock.release)
    throw new CommandFailure(
      `Another quick start runs in this folder: ${lock.heldBy}. Wait for it, or end it.`,
    );
  try {
    await play(options, state);
  } finally {
    lock.release();
  }
};
