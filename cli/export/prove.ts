import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageName, packageRoot } from "../../provider/kernel/package.js";
import { CommandFailure } from "../command.js";
import { ensurePulumi } from "../get-pulumi/get-pulumi.js";
import { privateFolder } from "../pulumi/own-folders.js";
import { runCommand } from "../pulumi/processes.js";
import {
  environmentFor,
  isolatedEnvironment,
  lightRun,
  ownPulumi,
  type PulumiCli,
} from "../pulumi/pulumi-cli.js";
import { previewIn } from "../pulumi/stack-documents.js";
import type { RehearsedAccount } from "../rehearse/accounts.js";
import { emulateAccount } from "../rehearse/emulated-account.js";
import type { Progress } from "../terminal/progress.js";

/** The generated source uses no TypeScript syntax except imports. */
const plainSource = (source: string): string =>
  source
    .replaceAll(/^import \* as (\w+) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replaceAll(/^import (\{[^}]*\}) from ("[^"]+");$/gm, "const $1 = require($2);");

/** A project without a compiler, which Pulumi would load. */
const plainProject = (text: string): string =>
  text
    .replace("index.ts", "index.js")
    .replace("runtime: nodejs", "runtime: { name: nodejs, options: { typescript: false } }");

/** An exported project as JavaScript, which runs without a compiler. */
const plainProgram = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([
    ["Pulumi.yaml", plainProject(files.get("Pulumi.yaml") ?? "")],
    ["index.js", plainSource(files.get("index.ts") ?? "")],
    ["import.json", files.get("import.json") ?? ""],
    ["package.json", '{ "main": "index.js" }\n'],
  ]);

const emptyState = { version: 3, deployment: {} };

const fill = (folder: string, { files, stack }: ProofOptions): void => {
  // The settings of the account are not those of the emulator.
  const own = new Map([...plainProgram(files), [`Pulumi.${stack}.yaml`, "config: {}\n"]]);
  for (const [name, text] of own) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "backend"));
  mkdirSync(join(folder, "temporary"));
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  symlinkSync(packageRoot(), join(folder, "node_modules", packageName), "junction");
  const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
  symlinkSync(sdk, join(folder, "node_modules", "@pulumi", "pulumi"), "junction");
};

const environment = (
  folder: string,
  cli: PulumiCli,
  variables: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv => {
  const temporary = join(folder, "temporary");
  return {
    ...environmentFor(cli, isolatedEnvironment(process.env)),
    ...lightRun(process.env),
    // What Pulumi leaves behind when it is killed disappears with the folder.
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    ...ownPulumi({
      home: join(folder, "home"),
      backend: join(folder, "backend"),
      passphrase: "proof",
    }),
    ...variables,
  };
};

/** The result of an export on an emulator that holds the same account. */
export interface Proof {
  /** The import went through, and nothing changes after it. */
  readonly ok: boolean;
  /** What would change: operation, resource, and its members. */
  readonly differences: readonly string[];
}

interface ProofOptions {
  readonly files: ReadonlyMap<string, string>;
  readonly stack: string;
  /** The program declares nothing, so there is nothing to import. */
  readonly isEmpty: boolean;
  /** Keys of the secrets that the program asks for. */
  readonly secrets: readonly string[];
  readonly account: RehearsedAccount;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Operations that leave everything as it is. */
const quiet = new Set(["same", "read", "refresh"]);

const differencesIn = (printed: string): readonly string[] => {
  const preview = previewIn(printed);
  if (!preview)
    throw new CommandFailure("Could not verify the export: pulumi preview printed no JSON.");
  return (
    preview.steps
      // The stack itself is new if nothing was imported.
      .filter(({ op, urn }) => !quiet.has(op) && !urn.includes("::pulumi:pulumi:Stack::"))
      .map(({ op, urn, diffReasons }) => {
        const name = urn.split("::").slice(2).join(" ");
        return `${op} ${name}${diffReasons?.length ? `: ${diffReasons.join(", ")}` : ""}`;
      })
  );
};

/**
 * Imports an export on an emulator with the same account and previews it. Calls only the emulator
 * and leaves nothing behind.
 *
 * @throws CommandFailure if Pulumi is unavailable or the import is refused
 */
export const prove = async (options: ProofOptions): Promise<Proof> => {
  const { progress, signal, secrets, isEmpty, stack } = options;
  const cli = await ensurePulumi({ progress, signal });
  const step = progress.step("Importing the export on an emulator with the same account");
  const { variables, close } = await emulateAccount(options.account, emptyState, {});
  const { folder, remove } = privateFolder("conversation-proof-");
  const env = environment(folder, cli, variables);
  const run = async (...args: readonly string[]): Promise<string> => {
    const options = { cwd: folder, env, signal };
    const ended = await runCommand(cli.command, [...args, "--non-interactive"], options);
    if (signal?.aborted)
      throw new CommandFailure("Interrupted. The export is written, but not proved.", 130);
    if (ended.code === 0) return ended.stdout;
    const said = ended.lastLines.slice(-12).join("\n");
    throw new CommandFailure(`Could not verify the export: pulumi ${args[0]} failed:\n${said}`);
  };
  try {
    fill(folder, options);
    await run("stack", "init", stack);
    const values = secrets.flatMap((key) => ["--secret", `${key}=any-value`]);
    if (values.length > 0) await run("config", "set-all", ...values);
    const how = ["--generate-code=false", "--protect=false", "--yes", "--skip-preview"];
    if (!isEmpty) await run("import", "--file", "import.json", ...how);
    const differences = differencesIn(await run("preview", "--json"));
    const ok = differences.length === 0;
    step.done(ok ? "Proved: 0 changes" : "Not proved: a run would change something");
    return { ok, differences };
  } catch (error) {
    step.failed();
    throw error;
  } finally {
    await close();
    remove();
  }
};
