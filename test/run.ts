import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { CommandFailure, messageOf } from "../cli/command.js";
import { ensurePulumi } from "../cli/get-pulumi/get-pulumi.js";
import { interruption } from "../cli/interruption.js";
import { runCommand } from "../cli/pulumi/processes.js";
import { environmentFor } from "../cli/pulumi/pulumi-cli.js";
import { progressOn } from "../cli/terminal/progress.js";
import { packageRoot } from "../provider/kernel/package.js";
import { ensureLanguageHosts } from "./support/language-hosts.js";

/** How many tests passed, failed and were skipped. */
interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const noTests: Counts = { passed: 0, failed: 0, skipped: 0 };

const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) }),
  ),
});

/** The counts in the text of vitest's JSON report. */
const countsIn = (json: string): Counts => {
  const report = reportSchema.parse(JSON.parse(json));
  // A file that could not even be loaded holds no test, but it is a failure.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((each) => each.status !== "failed"),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
};

/** `12 passed, 0 failed, 1 skipped`: the last line of a test run. */
const countsLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

interface Prepared {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const script = (root: string, name: string): string => join(root, "node_modules", name);

/** What is checked beside the tests; each counts like one test. */
const checks = (root: string) => [
  {
    title: "Format and lint",
    args: [script(root, "@biomejs/biome/bin/biome"), "check", "--colors=off", "."],
  },
  {
    title: "Types of the emulator's page",
    args: [script(root, "typescript-7/bin/tsc"), "-p", join(root, "emulator/page/browser")],
  },
  {
    title: "Generated files are up to date",
    args: [join(root, "dist/cli/generate.js"), "--check"],
  },
];

/** All at once: each keeps one core busy. */
const runChecks = async ({ root, env, signal }: Prepared): Promise<Counts> => {
  const all = checks(root);
  const step = progressOn(process.stdout).step(all.map(({ title }) => title).join(" · "));
  const means = { cwd: root, env, signal, timeoutMs: 300_000 };
  const ended = await Promise.all(all.map(({ args }) => runCommand(process.execPath, args, means)));
  const failed = ended.filter(({ code }) => code !== 0);
  if (failed.length === 0) step.done();
  else step.failed();
  for (const { lastLines } of failed) console.log(lastLines.join("\n"));
  return { passed: all.length - failed.length, failed: failed.length, skipped: 0 };
};

const runsSome = (files: readonly string[], filters: readonly string[]): boolean =>
  filters.length === 0 || files.some((file) => filters.some((filter) => file.includes(filter)));

/** Tests of the built package and of the examples need Pulumi. */
const needingPulumi = (root: string): readonly string[] =>
  [join("test", "built"), join("examples", "orders-bot")].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => /\.test\.m?ts$/.test(name))
      .map((name) => join(folder, name)),
  );

/** Tests with programs in YAML, with generated code, or with the plugin of a folder. */
const needingLanguageHosts = ["engine", "interruption", "plugin-languages"].map((name) =>
  join("test", "built", `${name}.test.ts`),
);

/** Where the tests find the Pulumi CLI, and a network that they leave alone. */
const withPulumi = async (
  root: string,
  filters: readonly string[],
  signal: AbortSignal,
): Promise<Prepared> => {
  const cli = await ensurePulumi({ progress: progressOn(process.stdout), signal });
  console.log(`Pulumi ${cli.version} from ${cli.origin}: ${cli.command}`);
  const env = environmentFor(cli, { ...process.env, PULUMI_CONVERSATION_TEST_PULUMI: cli.bin });
  if (!runsSome(needingLanguageHosts, filters)) return { root, env, signal };
  const missing = await ensureLanguageHosts(cli, { progress: progressOn(process.stdout), signal });
  if (missing !== undefined) console.log(`Skipped: programs that need a language host: ${missing}`);
  return { root, env, signal };
};

/** The runner writes to a pipe, so it cannot see whether this process has a terminal. */
const colours = (): NodeJS.ProcessEnv =>
  process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1", FORCE_COLOR: undefined };

/** Hundreds of runs of Pulumi load the same modules: a tenth of their time is compiling them. */
const compiledIn = (folder: string): NodeJS.ProcessEnv => ({
  NODE_COMPILE_CACHE: join(folder, "compiled"),
});

const show = (line: string): void => {
  if (!line.startsWith("JSON report written to")) console.log(line);
};

const runVitest = async (
  { root, env, signal }: Prepared,
  filters: readonly string[],
): Promise<Counts> => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-conversation-test-"));
  const report = join(folder, "report.json");
  const options = ["run", "--config", "test/vitest.config.mts"];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  try {
    const ended = await runCommand(
      process.execPath,
      [script(root, "vitest/vitest.mjs"), ...options, ...reporters, ...filters],
      { cwd: root, env: { ...env, ...colours(), ...compiledIn(folder) }, signal, onLine: show },
    );
    const counts = countsIn(readFileSync(report, "utf8"));
    // An error outside every test, such as an unhandled rejection, must not pass unseen.
    const unseen = ended.code !== 0 && counts.failed === 0 ? 1 : 0;
    return { ...counts, failed: counts.failed + unseen };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Checks and tests; with filters for vitest, only the tests that they name. */
const runAll = async (filters: readonly string[], signal: AbortSignal): Promise<Counts> => {
  const root = packageRoot();
  const prepared = runsSome(needingPulumi(root), filters)
    ? await withPulumi(root, filters, signal)
    : { root, env: process.env, signal };
  const checked = filters.length === 0 ? await runChecks(prepared) : noTests;
  const tested = await runVitest(prepared, filters);
  if (signal.aborted) throw new CommandFailure("The tests were interrupted.", 130);
  if (tested.passed + tested.failed === 0) throw new CommandFailure("No test was found.");
  return sum(checked, tested);
};

const main = async (filters: readonly string[]): Promise<number> => {
  const { signal } = interruption();
  try {
    const counts = await runAll(filters, signal);
    console.log(countsLine(counts));
    return counts.failed === 0 ? 0 : 1;
  } catch (error) {
    console.log(`\n✗ ${messageOf(error)}\n\n${countsLine({ ...noTests, failed: 1 })}`);
    return error instanceof CommandFailure ? error.exitCode : 1;
  }
};

main(process.argv.slice(2)).then((code) => process.exit(code));
