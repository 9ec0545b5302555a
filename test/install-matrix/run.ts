import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { messageOf } from "../../cli/command.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { ensurePulumi } from "../../cli/get-pulumi/get-pulumi.js";
import { interruption } from "../../cli/interruption.js";
import { runCommand } from "../../cli/pulumi/processes.js";
import { environmentFor, type PulumiCli } from "../../cli/pulumi/pulumi-cli.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { startEmulator } from "../../emulator/index.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { type Combination, dimensions, pairwise } from "./combinations.js";
import { installCommands, type MatrixPackage, writeMatrixProject } from "./matrix-project.js";

/* Installs the packed package the way users do, in every pair of circumstances, and applies a program with it. */

const page = "docs/install-matrix.md";

/** Runs a command in a folder; throws with its last words where it fails. */
type Run = (command: string, ...args: readonly string[]) => Promise<string>;

const runIn =
  (cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Run =>
  async (command, ...args) => {
    const ended = await runCommand(command, args, { cwd, env, signal, timeoutMs: 600_000 });
    if (ended.code === 0) return ended.stdout;
    throw new Error(`${command} ${args.join(" ")}: ${ended.lastLines.slice(-8).join("\n    ")}`);
  };

/** The package as npm would publish it, and the SDKs of its range. */
const packed = async (folder: string, run: Run): Promise<MatrixPackage> => {
  const root = packageRoot();
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const oldest = /\d+\.\d+\.\d+/.exec(manifest.peerDependencies["@pulumi/pulumi"] ?? "")?.[0] ?? "";
  const newest = manifest.devDependencies["@pulumi/pulumi"] ?? "";
  const [{ filename }] = JSON.parse(
    await run("npm", "pack", "--ignore-scripts", "--json", "--pack-destination", folder),
  ) as readonly [{ readonly filename: string }];
  return { tarball: join(folder, filename), sdk: { oldest, newest } };
};

/** Every release of Node that is tried, from npm's package of it; gives the folder of its program. */
const nodes = async (folder: string, signal: AbortSignal) => {
  for (const version of dimensions.node) {
    const place = join(folder, `node-${version}`);
    await mkdir(place);
    writeFileSync(join(place, "package.json"), "{}");
    await runIn(place, process.env, signal)("npm", "install", `node@${version}`);
  }
  return (version: string): string =>
    join(folder, `node-${version}`, "node_modules", "node", "bin");
};

/** What every row is tried with. */
interface Bench {
  readonly made: MatrixPackage;
  readonly clis: Clis;
  readonly nodeOf: (version: string) => string;
  readonly signal: AbortSignal;
}

const prove = async (
  folder: string,
  row: Combination,
  { made, clis, nodeOf, signal }: Bench,
): Promise<void> => {
  await mkdir(join(folder, "backend"), { recursive: true });
  await using emulator = await startEmulator();
  const isCompiled = writeMatrixProject(folder, row, made);
  const [install = "", ...args] = installCommands[row.manager];
  await runIn(folder, process.env, signal)(install, ...args);
  const env = environmentFor(clis[row.cli], {
    ...process.env,
    ...emulatorEnvironment(emulator),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "matrix",
  });
  const bin = join(folder, "node_modules", ".bin");
  const run = runIn(
    folder,
    { ...env, PATH: [nodeOf(row.node), bin, env.PATH].join(delimiter) },
    signal,
  );
  const version = await run("node", "--version");
  if (!version.startsWith(`v${row.node}.`)) throw new Error(`This is Node ${version}.`);
  if (isCompiled) await run("tsc", "-p", ".");
  await run("pulumi", "stack", "init", "matrix", "--non-interactive");
  await run("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
  await run("pulumi", "preview", "--expect-no-changes", "--non-interactive");
  await run("pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive");
};

const table = (rows: readonly Combination[], made: MatrixPackage, clis: Clis): string => {
  const names = Object.keys(dimensions) as (keyof Combination)[];
  const versions = { sdk: made.sdk, cli: mapped(clis, ({ version }) => version) };
  const shown = (row: Combination) =>
    names.map((name) => {
      if (name === "sdk") return versions.sdk[row.sdk];
      return name === "cli" ? versions.cli[row.cli] : row[name];
    });
  return [
    "| Package manager | Dependency | Program | CLI | SDK | TypeScript | Node |",
    `|${"---|".repeat(names.length)}`,
    ...rows.map((row) => `| ${shown(row).join(" | ")} |`),
  ].join("\n");
};

/** The command lines that stand for the tested and the oldest release, and for one between them. */
type Clis = Readonly<Record<Combination["cli"], PulumiCli>>;

const mapped = (
  clis: Clis,
  of: (cli: PulumiCli) => string,
): Record<Combination["cli"], string> => ({
  tested: of(clis.tested),
  oldest: of(clis.oldest),
  between: of(clis.between),
});

/** The CLI in a folder that the command line names, such as `--oldest=/opt/pulumi-3.254/bin`; else the tested one. */
const cliNamed = async (
  name: string,
  tested: PulumiCli,
  signal: AbortSignal,
): Promise<PulumiCli> => {
  const bin = process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split("=")[1];
  if (!bin) return tested;
  const command = join(bin, "pulumi");
  const version = await runIn(bin, process.env, signal)(command, "version");
  return { ...tested, bin, command, version: version.trim().replace(/^v/, "") };
};

const main = async (): Promise<void> => {
  const { signal } = interruption();
  const progress = progressOn(process.stderr);
  const tested = await ensurePulumi({ progress, signal });
  const clis = {
    tested,
    oldest: await cliNamed("oldest", tested, signal),
    between: await cliNamed("between", tested, signal),
  };
  const folder = await mkdtemp(join(tmpdir(), "conversation-matrix-"));
  const [only] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const rows = pairwise().filter((row) => !only || Object.values(row).join(" ").includes(only));
  const failed: string[] = [];
  try {
    const made = await packed(folder, runIn(packageRoot(), process.env, signal));
    const bench = { made, clis, nodeOf: await nodes(folder, signal), signal };
    for (const [at, row] of rows.entries()) {
      const title = `${at + 1}/${rows.length} ${Object.entries(row)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")}`;
      const step = progress.step(title);
      const place = join(folder, String(at));
      await prove(place, row, bench).then(
        () => step.done(),
        (error: unknown) => {
          failed.push(title);
          step.failed(`${title}\n    ${messageOf(error)}`);
        },
      );
      rmSync(place, { recursive: true, force: true });
    }
    if (process.argv.includes("--write") && failed.length === 0 && !only)
      writeFileSync(
        join(packageRoot(), page),
        readFileSync(join(packageRoot(), page), "utf8").replace(
          /<!-- matrix -->[\s\S]*<!-- \/matrix -->/,
          `<!-- matrix -->\n${table(rows, made, clis)}\n<!-- /matrix -->`,
        ),
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${rows.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
};

void main();
