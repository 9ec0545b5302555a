import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageName, packageRoot } from "../../../provider/kernel/package.js";
import { CommandFailure } from "../../command.js";
import { privateFolder } from "../../process/private-folder.js";
import { type Ended, runCommand } from "../../process/run-command.js";
import { environmentOfNobody } from "../../pulumi-cli/own-environment.js";
import { environmentFor, frugalRuns, type PulumiCli } from "../../pulumi-cli/pulumi-cli.js";
import { plainProgram } from "./plain-program.js";

export interface ProofProjectOptions {
  readonly cli: PulumiCli;
  readonly files: ReadonlyMap<string, string>;
  readonly stack: string;
  /** Environment variables of every setting, for the program and its provider; undefined: not set. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

const longestMs = 600_000;

const sdkFolder = (): string =>
  dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));

const fill = (folder: string, { files, stack }: ProofProjectOptions): void => {
  // The settings of the account are not those of the emulator.
  const own = new Map([...plainProgram(files), [`Pulumi.${stack}.yaml`, "config: {}\n"]]);
  for (const [name, text] of own) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "backend"));
  mkdirSync(join(folder, "temporary"));
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  symlinkSync(packageRoot(), join(folder, "node_modules", packageName), "junction");
  symlinkSync(sdkFolder(), join(folder, "node_modules", "@pulumi", "pulumi"), "junction");
};

const environment = (folder: string, { cli, settings }: ProofProjectOptions) => ({
  ...environmentFor(cli, environmentOfNobody(process.env)),
  ...frugalRuns({}),
  PULUMI_HOME: join(folder, "home"),
  // What Pulumi leaves behind when it is ended goes with the folder.
  ...Object.fromEntries(["TMPDIR", "TMP", "TEMP"].map((name) => [name, join(folder, "temporary")])),
  PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
  PULUMI_CONFIG_PASSPHRASE: "proof",
  ...settings,
});

/** A project of its own, with a backend of its own, that is removed when it has served. */
export const proofProject = (options: ProofProjectOptions) => {
  const { cli, stack, signal } = options;
  const { folder, remove } = privateFolder("conversation-proof-");
  fill(folder, options);
  const env = environment(folder, options);
  const tried = async (...args: string[]): Promise<Ended> => {
    const limits = { cwd: folder, env, signal, timeoutMs: longestMs };
    const ended = await runCommand(cli.command, [...args, "--non-interactive"], limits);
    if (signal?.aborted) throw new CommandFailure("Interrupted; nothing is left running.", 130);
    return ended;
  };
  return {
    folder,
    stack,
    /** Runs `pulumi`, whatever comes of it. */
    tried,
    /** Runs `pulumi`. @throws CommandFailure with what it said last, where it fails */
    run: async (...args: string[]): Promise<string> => {
      const ended = await tried(...args);
      if (ended.code === 0) return ended.stdout;
      const said = ended.lastLines.slice(-12).join("\n");
      throw new CommandFailure(`Proving the export: pulumi ${args[0]} failed.\n${said}`);
    },
    remove,
  };
};

export type ProofProject = ReturnType<typeof proofProject>;
