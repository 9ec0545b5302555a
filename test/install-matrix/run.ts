import { mkdirSync, rmSync, writeFileSync } from "node:fs";
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
import { type Combination, readRows } from "./rows.js";

const typescriptVersions: Readonly<Record<string, string>> = { "5": "~5.9.0", "6": "~6.0.0" };

/** A small account, in words that every sort of program understands. */
const body = `
const signIn = new c.Authentication("sign-in", { basicAuth: { username: "hub", password: pulumi.secret("made-up") } });
const bot = new c.ClientApplication("bot", {
  roles: [{ name: "custom_bot", version: "v3", callback: "https://bot.example.com/messages", notificationEmail: "ops@example.com", authentication: signIn }],
});
new c.Participant("orders", { type: "custom_bot", application: bot });
new c.Channel("web", { type: "custom.web", displayName: "Web chat", icon: "aVZCT1J3MEtHZ28=" });
`;

const imports = (from: string, isJavaScript: boolean): string =>
  isJavaScript
    ? `const pulumi = require("@pulumi/pulumi");\nconst c = require("${from}");\n`
    : `import * as pulumi from "@pulumi/pulumi";\nimport * as c from "${from}";\n`;

/** A library between the program and the package: the program does not depend on the package itself. */
const library = "conversation-library";

const writeLibrary = (folder: string, tarball: string): string => {
  const path = join(folder, "library");
  mkdirSync(path, { recursive: true });
  const manifest = {
    name: library,
    version: "1.0.0",
    main: "index.js",
    types: "index.d.ts",
    dependencies: { "pulumi-conversation": `file:${tarball}` },
    peerDependencies: { "@pulumi/pulumi": "*" },
  };
  writeFileSync(join(path, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(path, "index.js"), 'module.exports = require("pulumi-conversation");\n');
  writeFileSync(join(path, "index.d.ts"), 'export * from "pulumi-conversation";\n');
  return path;
};

const compilerOptions = ({ program, typescript }: Combination) => ({
  strict: true,
  target: "es2022",
  outDir: "out",
  types: ["node"],
  skipLibCheck: false,
  ...(program === "ESM" || typescript === "6"
    ? { module: "nodenext", moduleResolution: "nodenext" }
    : // What Pulumi's own template had for years.
      { module: "commonjs", moduleResolution: "node10" }),
});

/** Commands of the three package managers that install what a manifest says. */
const installCommands: Readonly<Record<string, readonly string[]>> = {
  npm: ["npm", "install", "--no-audit", "--no-fund", "--install-links"],
  pnpm: ["npx", "--yes", "pnpm@10", "install"],
  yarn: ["npx", "--yes", "@yarnpkg/cli-dist@4", "install"],
};

/**
 * Writes the project of one combination. TypeScript is compiled before it runs, so that every Pulumi runs it.
 *
 * @param tarball the package as it would be published
 * @returns whether there is something to compile
 */
const writeMatrixProject = (folder: string, row: Combination, tarball: string): boolean => {
  const isJavaScript = row.program === "JavaScript";
  const from = row.place === "direct" ? "pulumi-conversation" : library;
  const path = row.place === "direct" ? tarball : writeLibrary(folder, tarball);
  const main = isJavaScript ? "index.js" : "out/index.js";
  const manifest = {
    name: "matrix",
    version: "1.0.0",
    private: true,
    main,
    type: row.program === "ESM" ? "module" : "commonjs",
    dependencies: { "@pulumi/pulumi": row.sdk, [from]: `file:${path}` },
    devDependencies: {
      "@types/node": "^24.0.0",
      typescript: typescriptVersions[row.typescript],
    },
  };
  const source = imports(from, isJavaScript) + body;
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, isJavaScript ? "index.js" : "index.ts"), source);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: compilerOptions(row), files: ["index.ts"] }),
  );
  writeFileSync(join(folder, "Pulumi.yaml"), `name: matrix\nruntime: nodejs\nmain: ${main}\n`);
  // Yarn's own way of installing, without node_modules, runs no dynamic providers.
  writeFileSync(
    join(folder, ".yarnrc.yml"),
    "nodeLinker: node-modules\nenableTelemetry: false\nenableImmutableInstalls: false\nenableScripts: true\n",
  );
  writeFileSync(join(folder, "pnpm-workspace.yaml"), "onlyBuiltDependencies:\n  - protobufjs\n");
  return !isJavaScript;
};

/* Installs the packed package the way users do, in each row of docs/install-matrix.md, and applies a program with it. */

/** Runs a command in a folder; throws with its last words where it fails. */
type Run = (command: string, ...args: readonly string[]) => Promise<string>;

const runIn =
  (cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Run =>
  async (command, ...args) => {
    const ended = await runCommand(command, args, { cwd, env, signal, timeoutMs: 600_000 });
    if (ended.code === 0) return ended.stdout;
    throw new Error(`${command} ${args.join(" ")}: ${ended.lastLines.slice(-8).join("\n    ")}`);
  };

/** What every row is tried with. */
interface Bench {
  /** The folder of all rows, which is removed in the end. */
  readonly folder: string;
  /** The package as npm would publish it. */
  readonly tarball: string;
  readonly tested: PulumiCli;
  readonly signal: AbortSignal;
}

const pack = async (folder: string, run: Run): Promise<string> => {
  const args = ["--ignore-scripts", "--json", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(await run("npm", "pack", ...args)) as readonly [
    { readonly filename: string },
  ];
  return join(folder, filename);
};

/** Installs a release of Node from npm's package of it, and gives the folder of its program. */
const installNode = async ({ folder, signal }: Bench, version: string): Promise<string> => {
  const place = join(folder, `node-${version}`);
  await mkdir(place, { recursive: true });
  writeFileSync(join(place, "package.json"), "{}");
  await runIn(place, process.env, signal)("npm", "install", `node@${version}`);
  return join(place, "node_modules", "node", "bin");
};

/** The release of Pulumi in the folder that `--clis=<folder>` names; without one, the tested one. */
const findCli = ({ tested }: Bench, version: string): PulumiCli => {
  const folder = process.argv.find((argument) => argument.startsWith("--clis="))?.split("=")[1];
  if (folder === undefined) return tested;
  const bin = join(folder, version, "bin");
  return { ...tested, bin, command: join(bin, "pulumi"), version };
};

const tryRow = async (folder: string, row: Combination, bench: Bench): Promise<void> => {
  const { tarball, signal } = bench;
  await mkdir(join(folder, "backend"), { recursive: true });
  await using emulator = await startEmulator();
  const isCompiled = writeMatrixProject(folder, row, tarball);
  const [install = "", ...args] = installCommands[row.manager] ?? [];
  await runIn(folder, process.env, signal)(install, ...args);
  const env = environmentFor(findCli(bench, row.cli), {
    ...process.env,
    ...emulatorEnvironment(emulator),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "matrix",
  });
  const programs = [await installNode(bench, row.node), join(folder, "node_modules", ".bin")];
  const path = [...programs, env.PATH].join(delimiter);
  const run = runIn(folder, { ...env, PATH: path }, signal);
  const version = await run("node", "--version");
  if (!version.startsWith(`v${row.node}.`)) throw new Error(`This is Node ${version}.`);
  if (isCompiled) await run("tsc", "-p", ".");
  await run("pulumi", "stack", "init", "matrix", "--non-interactive");
  await run("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
  await run("pulumi", "preview", "--expect-no-changes", "--non-interactive");
  await run("pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive");
};

const main = async (): Promise<void> => {
  const { signal } = interruption();
  const progress = progressOn(process.stderr);
  const tested = await ensurePulumi({ progress, signal });
  const folder = await mkdtemp(join(tmpdir(), "conversation-matrix-"));
  const [only = ""] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const rows = readRows().filter((row) => Object.values(row).join(" ").includes(only));
  let failed = 0;
  try {
    const tarball = await pack(folder, runIn(packageRoot(), process.env, signal));
    for (const [at, row] of rows.entries()) {
      const title = `${at + 1}/${rows.length} ${Object.values(row).join(", ")}`;
      const step = progress.step(title);
      const place = join(folder, String(at));
      await tryRow(place, row, { folder, tarball, tested, signal }).then(
        () => step.done(),
        (error: unknown) => {
          failed += 1;
          step.failed(`${title}\n    ${messageOf(error)}`);
        },
      );
      rmSync(place, { recursive: true, force: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
};

void main();
