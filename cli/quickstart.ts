import { packageRoot } from "../provider/kernel/package.js";
import { CommandFailure, messageOf } from "./command.js";
import { untilSignal } from "./interruption.js";
import { runQuickstart } from "./quickstart/run-quickstart.js";

const USAGE = `npm run quickstart               set up a conversation account on the emulator
npm run quickstart -- --destroy  remove it again`;

const wantsDestroy = (args: readonly string[]): boolean => {
  const unknown = args.find((arg) => arg !== "--destroy");
  if (unknown !== undefined)
    throw new CommandFailure(`Unknown option ${unknown}. The options:\n\n${USAGE}`, 2);
  return args.length > 0;
};

const main = async (args: readonly string[]): Promise<void> => {
  if (args.includes("--help") || args.includes("-h")) return console.log(USAGE);
  const destroy = wantsDestroy(args);
  await untilSignal(
    (signal) => runQuickstart({ root: packageRoot(), destroy, signal, stream: process.stdout }),
    "No process is left running. To continue, run: npm run quickstart",
  );
};

main(process.argv.slice(2)).then(
  // Waiting for idle connections would only cost time.
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\n✗ ${messageOf(error)}`);
    process.exit(error instanceof CommandFailure ? error.exitCode : 1);
  },
);
