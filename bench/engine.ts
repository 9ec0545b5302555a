import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { ensurePulumi } from "../cli/get-pulumi/get-pulumi.js";
import { runCommand } from "../cli/pulumi/processes.js";
import { environmentFor, ownPulumi, type PulumiCli } from "../cli/pulumi/pulumi-cli.js";
import { textTable } from "../cli/terminal/columns.js";
import { progressOn } from "../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import { packageRoot } from "../provider/kernel/package.js";
import { pointerTo, typeToken } from "../provider/kernel/pulumi.js";
import { unlimitedBurst } from "../provider/pacing/pacer.js";
import { authentication as kind } from "../provider/resources/authentication.js";
import { defaultScopes } from "../provider/service/operations.js";

/** Resources of every program. */
const resourceCount = 200;

const each = (statement: string): string =>
  `for (let n = 0; n < ${resourceCount}; n++) ${statement};\n`;

/** A provider in the state: a path into this build, as long as our pointer. */
const pointerInto = (made: string): string => {
  const path = JSON.stringify(join(__dirname, "same-calls.js"));
  return `exports.handler=()=>require(${path}).${made};//`.padEnd(pointerTo(kind.kind).length, "-");
};

/** Every class of a package offers all fields of its objects, and every object has an owner. */
const sameCalls = (): string => `
const pulumi = require("@pulumi/pulumi");
const empty = Object.fromEntries(${JSON.stringify(Object.keys(kind.fields))}.map((key) => [key]));
class Same extends pulumi.CustomResource {
  constructor(kind, name, props) { super("${typeToken("")}" + kind, name, props); }
}
const __provider = ${JSON.stringify(pointerInto(`sameCalls("${kind.collection}")`))};
const { id } = new Same("Ownership", "ownership", { __provider: ${JSON.stringify(pointerInto("owner"))} });
${each(`new Same("${kind.kind}", "small-" + n, {
  ...empty, created: undefined, modified: undefined, __provider,
  name: "bench-" + n, type: "basic", active: true, owner: id.apply((own) => own + "/small-" + n),
  basicAuth: { username: "hub", password: pulumi.secret("no-real-secret") } })`)}`;

const ours = (): string => `
const { ${kind.kind} } = require("pulumi-conversation");
${each(`new ${kind.kind}("small-" + n, {
  name: "bench-" + n, basicAuth: { username: "hub", password: "no-real-secret" } })`)}`;

/** Resources with the same values as ours, whose provider makes the same calls; and ours. */
const programs = { sameCalls, ours } as const;

const writeProject = (folder: string, program: keyof typeof programs): void => {
  const [root, modules] = [packageRoot(), join(folder, "node_modules")];
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(folder, "backend"));
  symlinkSync(root, join(modules, "pulumi-conversation"));
  symlinkSync(join(root, "node_modules", "@pulumi"), join(modules, "@pulumi"));
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${program}\nruntime: nodejs\nmain: index.js\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: program, main: "index.js" }));
  writeFileSync(join(folder, "index.js"), programs[program]());
};

const projectEnvironment = (folder: string, cli: PulumiCli, emulator: Emulator) => ({
  // Programs run on the same Node as this process, whatever else is on PATH.
  ...environmentFor(cli, {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  }),
  ...ownPulumi({
    home: join(folder, "home"),
    backend: join(folder, "backend"),
    passphrase: "bench",
  }),
  ...emulatorEnvironment(emulator),
  // The emulator has no limit: ours must not keep to those of a plan.
  CONVERSATION_BURST: String(unlimitedBurst),
  CONVERSATION_SCOPE: defaultScopes.join(" "),
});

const shownLines = 15;

/** One of the programs in its own folder, with its own backend and emulator. */
const openProject = async (
  folder: string,
  program: keyof typeof programs,
  cli: PulumiCli,
  signal: AbortSignal,
) => {
  writeProject(folder, program);
  const emulator = await startEmulator({ plan: "none" });
  const env = projectEnvironment(folder, cli, emulator);
  /** Runs the CLI on the project's one stack, and returns the seconds that it took. */
  const time = async (args: readonly string[]): Promise<number> => {
    const all = [...args, "--stack", "bench", "--non-interactive", "--color", "never"];
    const start = performance.now();
    const ended = await runCommand(cli.command, all, { cwd: folder, env, signal });
    if (ended.code === 0) return (performance.now() - start) / 1000;
    throw new Error(`pulumi ${args[0]} failed:\n${ended.lastLines.slice(-shownLines).join("\n")}`);
  };
  // The best of all turns: other work on the machine only ever slows down.
  return { emulator, time, best: new Map<string, number>() };
};

type BenchProject = Awaited<ReturnType<typeof openProject>>;

const turns = 3;

/** The measured commands, in order: create everything, change nothing, delete everything. */
const commands = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
} as const;

/** Fails if not every object was created: a fast failure is no result. */
const assertCreated = async ({ controlUrl }: Emulator): Promise<void> => {
  const text = await (await fetch(`${controlUrl}/stats`)).text();
  const wanted = `"POST /${kind.collection}":{"accepted":${resourceCount},`;
  if (!text.includes(wanted)) throw new Error(`Not every object was created: ${text}`);
};

/**
 * Every command on every program, from nothing to nothing: programs alternate, as the speed of the
 * machine varies.
 */
const runTurn = async (projects: readonly BenchProject[]): Promise<void> => {
  for (const { emulator, time } of projects) {
    await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
    await time(["stack", "init", "--no-select"]);
  }
  for (const [command, args] of Object.entries(commands))
    for (const { emulator, time, best } of projects) {
      const seconds = await time(args);
      if (command === "up") await assertCreated(emulator);
      best.set(command, Math.min(best.get(command) ?? seconds, seconds));
    }
  for (const { time } of projects) await time(["stack", "rm", "--yes"]);
};

/**
 * Pulumi's commands with this package on a service without limits, against a provider that makes the
 * same calls.
 */
export const measureEngine = async (signal: AbortSignal): Promise<readonly string[]> => {
  const cli = await ensurePulumi({ progress: progressOn(process.stderr), signal });
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  const projects: BenchProject[] = [];
  try {
    for (const program of ["sameCalls", "ours"] as const)
      projects.push(await openProject(join(folder, program), program, cli, signal));
    for (let turn = 1; turn <= turns; turn += 1) await runTurn(projects);
    const rows = Object.keys(commands).map((command) => {
      const [same = 0, own = 0] = projects.map(({ best }) => best.get(command) ?? 0);
      return [
        command,
        `${same.toFixed(1)} s`,
        `${own.toFixed(1)} s`,
        `×${(own / same).toFixed(2)}`,
      ];
    });
    const title = `Pulumi ${cli.version}, ${resourceCount} resources, no limits`;
    return textTable([title, "the same calls", "pulumi-conversation", "over the calls"], rows);
  } finally {
    for (const { emulator } of projects) await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
