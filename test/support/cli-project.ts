import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type {
  PendingOperation,
  StackExport,
  StateResource,
} from "../../cli/pulumi/stack-documents.js";
import { pluginToken, typeToken } from "../../provider/kernel/pulumi.js";
import { unlimitedBurst } from "../../provider/pacing/pacer.js";
import { type Door, doorOfTests } from "./door.js";
import { filesBelow } from "./left-behind.js";
import { deliverPlugin, pluginSettings } from "./plugin-delivery.js";
import { assertPrinted } from "./printed-json.js";
import { startTool, toolMain } from "./tool-process.js";

/** Nothing waits for a turn that an emulator without limits does not ask for. */
export const withoutPace = { CONVERSATION_BURST: String(unlimitedBurst) } as const;

const root = join(__dirname, "..", "..");

export interface CliResult {
  readonly code: number;
  readonly output: string;
}

/** A user's project with a JavaScript program, driven by the real command line. */
export interface CliProject {
  readonly folder: string;
  /** Type token of the resources of a kind. */
  readonly token: (kind: string) => string;
  /** Part of the command lines of its provider processes. */
  readonly providerProcess: string;
  /** What its commands run with. */
  readonly environment: NodeJS.ProcessEnv;
  /** Runs `pulumi` with these arguments; never throws for an exit code. */
  pulumi(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): Promise<CliResult>;
  /** The same where it must succeed; gives what it printed. */
  succeed(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
  /**
   * Runs `pulumi-conversation` in the project, or a folder of it; the output is what it printed on stdout.
   * JSON among it has to be of the documented shape.
   */
  tool(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
    below?: string,
  ): Promise<CliResult & { readonly errors: string }>;
  /** Starts `pulumi-conversation` in the project and leaves it to the caller. */
  startTool(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): ReturnType<typeof startTool>;
  /** Starts `pulumi` and leaves it to the caller. */
  start(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): {
    readonly child: ChildProcess;
    readonly ended: Promise<CliResult>;
  };
  /** Runs something else with the project's environment, in its folder. */
  inShell<T>(work: (environment: NodeJS.ProcessEnv, folder: string) => Promise<T>): Promise<T>;
  /** The state file of a stack, by default its own, as it lies on the disk. */
  state(stack?: string): string;
  /** What that state holds, and what it notes as under way. */
  held(stack?: string): {
    readonly resources: readonly StateResource[];
    readonly pending: readonly PendingOperation[];
  };
  /** Puts other resources into a stack's state, by an export and an import. */
  edit(
    change: (resources: readonly StateResource[]) => readonly StateResource[],
    stack?: string,
  ): Promise<void>;
  /** Takes away what keeps a killed run's stack from being used: its lock, and cut-off attributes. */
  release(stack?: string): Promise<void>;
  remove(): void;
}

/**
 * Pulumi's file backend writes the attributes beside each file in place. Killed in that instant it
 * leaves them empty and cannot read the file any more; without them it can.
 */
const dropEmptyAttributes = (backend: string): void => {
  for (const [name, { length }] of filesBelow(backend))
    if (name.endsWith(".attrs") && length === 0) rmSync(join(backend, name), { force: true });
};

/** What `pulumi stack init` once wrote for the passphrase "test". */
const salt = "v1:0XK1j9Crb9w=:v1:3Xm9NZL+XgKA6mUk:p7sYJrl4YdnxCJoAuTAqUcUo65d02g==";
const manifest = {
  time: "2026-01-01T00:00:00Z",
  magic: "a8ce862bb3201356034a2d41310dffb289d873f576feb681dd14b5ac87d739dd",
  version: "v3.276.0",
};

/** Makes a stack and selects it as `pulumi stack init` does, for a fraction of what a start of Pulumi costs. */
const makeStack = (folder: string, backend: string, stack: string): void => {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const name = `organization/shop/${stack}`;
  const secrets = { type: "passphrase", state: { salt } };
  const latest = { manifest, secrets_providers: secrets, metadata: {} };
  const state = { version: 3, checkpoint: { stack: name, latest } };
  write(join(backend, ".pulumi", "meta.yaml"), "version: 1\n");
  write(join(backend, ".pulumi", "stacks", "shop", `${stack}.json`), JSON.stringify(state));
  write(join(folder, `Pulumi.${stack}.yaml`), `encryptionsalt: ${salt}\n`);
  const place = createHash("sha1").update(join(folder, "Pulumi.yaml")).digest("hex");
  const selected = { stacks: { [`file://${backend}`]: name } };
  write(
    join(folder, "home", "workspaces", `shop-${place}-workspace.json`),
    JSON.stringify(selected),
  );
};

export const cliProject = async (
  program: string,
  environment: Readonly<Record<string, string>>,
  options: {
    readonly stack?: string;
    readonly backend?: string;
    /** Whether the program's classes are those of dynamic resources, or of the plugin. Default: as DOOR says. */
    readonly door?: Door;
    /** A cache folder in the project, instead of the user's. */
    readonly ownCache?: true;
  } = {},
): Promise<CliProject> => {
  const { stack = "prod", door = doorOfTests } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "conversation-project-")));
  const backend = options.backend ?? join(folder, "backend");
  mkdirSync(backend, { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  const ownPackage = join(folder, "node_modules", "pulumi-conversation");
  const isPlugin = door === "plugin";
  if (isPlugin) {
    const classes = join(root, "dist", "test", "support", "plugin-classes.js");
    mkdirSync(ownPackage);
    writeFileSync(
      join(ownPackage, "index.js"),
      `module.exports = require(${JSON.stringify(classes)});`,
    );
  } else symlinkSync(root, ownPackage);
  symlinkSync(join(root, "node_modules", "@pulumi"), join(folder, "node_modules", "@pulumi"));
  const dynamicSettings = { name: "shop", runtime: "nodejs", main: "index.js" };
  const settings = isPlugin ? pluginSettings(deliverPlugin(folder)) : dynamicSettings;
  writeFileSync(join(folder, "Pulumi.yaml"), JSON.stringify(settings));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "shop", main: "index.js" }));
  writeFileSync(join(folder, "index.js"), program);
  const bin = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";
  const common = {
    ...process.env,
    PATH: [bin, process.env.PATH].join(delimiter),
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_HOME: join(folder, "home"),
    ...(options.ownCache ? { XDG_CACHE_HOME: join(folder, "cache") } : {}),
    ...environment,
  };
  const run = (command: string, args: readonly string[], more: NodeJS.ProcessEnv, below = ".") =>
    new Promise<CliResult & { readonly errors: string }>((resolve) => {
      const env = { ...common, ...more };
      const settings = { cwd: join(folder, below), env, maxBuffer: 64 * 1024 * 1024 };
      execFile(command, args, settings, (error, output, errors) => {
        const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
        resolve({ code, output, errors });
      });
    });
  const pulumi: CliProject["pulumi"] = async (args, more = {}) => {
    const words = [...args, "--non-interactive"];
    const { code, output, errors } = await run(join(bin, "pulumi"), words, more);
    return { code, output: output + errors };
  };
  const tool: CliProject["tool"] = async (args, more = {}, below = ".") => {
    const ended = await run(process.execPath, [toolMain, ...args], more, below);
    await assertPrinted(args, ended.output);
    return ended;
  };
  const start: CliProject["start"] = (args, more = {}) => {
    const child = spawn(join(bin, "pulumi"), [...args, "--non-interactive"], {
      cwd: folder,
      env: { ...common, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    // Its children may outlive it and keep its output open, so its own end is what counts.
    const ended = new Promise<CliResult>((resolve) => {
      child.once("exit", (code) => resolve({ code: code ?? 1, output }));
    });
    return { child, ended };
  };
  const succeed: CliProject["succeed"] = async (args, more) => {
    const { code, output } = await pulumi(args, more);
    if (code !== 0) throw new Error(output);
    return output;
  };
  makeStack(folder, backend, stack);
  const state: CliProject["state"] = (of = stack) =>
    readFileSync(join(backend, ".pulumi", "stacks", "shop", `${of}.json`), "utf8");
  return {
    folder,
    token: isPlugin ? pluginToken : typeToken,
    providerProcess: isPlugin ? "provider/plugin/main" : "dynamic-provider",
    environment: common,
    pulumi,
    succeed,
    tool,
    startTool: (args, more = {}) => startTool(args, { cwd: folder, env: { ...common, ...more } }),
    start,
    inShell: (work) => work(common, folder),
    state,
    held: (of) => {
      const latest: StackExport["deployment"] = JSON.parse(state(of)).checkpoint.latest ?? {};
      return { resources: latest.resources ?? [], pending: latest.pending_operations ?? [] };
    },
    edit: async (change, of = stack) => {
      const document = JSON.parse(await succeed(["stack", "export", "--stack", of]));
      document.deployment.resources = change(document.deployment.resources ?? []);
      const file = join(folder, "edited.json");
      writeFileSync(file, JSON.stringify(document));
      await succeed(["stack", "import", "--stack", of, "--file", file]);
    },
    release: async (of = stack) => {
      dropEmptyAttributes(backend);
      await pulumi(["cancel", "--yes", "--stack", of]);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
