import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CommandFailure, messageOf } from "../cli/command.js";
import { interruption } from "../cli/process/interruption.js";
import { progressOn } from "../cli/terminal/progress.js";
import { packageRoot } from "../provider/kernel/package-version.js";
import { chart } from "./chart.js";
import { measure, usualCount } from "./measure.js";
import { report } from "./report.js";

const usage = `npm run bench                  measures, and prints tables
npm run bench -- --json        prints one JSON object instead
npm run bench -- --write       also draws docs/bench.svg
npm run bench -- --no-engine   leaves pulumi up out`;

const options = {
  json: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
  "no-engine": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new CommandFailure(`${messageOf(error)} What there is:\n\n${usage}`, 2);
  }
};

const main = async (args: readonly string[]): Promise<void> => {
  const wanted = parsed(args);
  if (wanted.help) return console.log(usage);
  const { signal, release } = interruption();
  const progress = progressOn(process.stderr);
  try {
    const figures = await measure({ progress, signal, withoutEngine: wanted["no-engine"] });
    if (wanted.write) {
      const path = join(packageRoot(), "docs", "bench.svg");
      writeFileSync(path, chart(figures, usualCount));
      progress.note(`Drawn: ${path}`);
    }
    const lines = wanted.json ? [JSON.stringify(figures, null, 2)] : ["", ...report(figures)];
    await new Promise((written) => process.stdout.write(`${lines.join("\n")}\n`, written));
  } finally {
    release();
  }
};

if (require.main === module) {
  main(process.argv.slice(2)).then(
    // Idle connections and the thread of virtual time need not be waited for.
    () => process.exit(0),
    (error: unknown) => {
      console.error(`\n✗ ${messageOf(error)}`);
      process.exit(error instanceof CommandFailure ? error.exitCode : 1);
    },
  );
}
