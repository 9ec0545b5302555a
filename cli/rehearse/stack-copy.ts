import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  addressesVariable,
  type EmulatedAddresses,
} from "../../provider/service/emulated-settings.js";
import { CommandFailure } from "../command.js";
import { privateFolder } from "../pulumi/own-folders.js";
import { type CommandOptions, type Ended, runCommand } from "../pulumi/processes.js";
import { saltOfStack, stackFile } from "../pulumi/project-files.js";
import { lightRun, pulumiStops } from "../pulumi/pulumi-cli.js";
import { type StackExport, type StateResource, stackExportIn } from "../pulumi/stack-documents.js";
import {
  configWithoutWaysOut,
  type OriginalStack,
  type OtherStack,
  readOther,
  withoutWaysOut,
} from "./original-stack.js";

/** A resource as a component, which has no provider: its deletion calls nobody. */
const asComponent = ({ id: _, provider: __, ...resource }: StateResource): StateResource => ({
  ...resource,
  custom: false,
});

interface CopyOptions {
  /** Resources that are detached from the start. */
  readonly detached: readonly string[];
  /**
   * Variables that point every profile at its emulator; all other settings of these profiles are
   * removed.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** The run calls no other. */
  readonly addresses: EmulatedAddresses;
  readonly signal: AbortSignal;
}

const environmentOf = (
  original: OriginalStack,
  { variables, addresses }: CopyOptions,
  folder: string,
): NodeJS.ProcessEnv => {
  const { env } = original.stack;
  const direct = ["127.0.0.1", env.NO_PROXY ?? env.no_proxy].filter(Boolean).join(",");
  const cache = join(folder, "cache");
  return {
    ...withoutWaysOut(original),
    ...lightRun(env),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    // Nobody knows it, so that the copy holds no secret that anybody can read.
    PULUMI_CONFIG_PASSPHRASE: randomBytes(24).toString("base64url"),
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
    XDG_CACHE_HOME: cache,
    // Later runs reuse what the first one compiled, and several run in parallel.
    NODE_COMPILE_CACHE: join(cache, "node"),
    NO_PROXY: direct,
    no_proxy: direct,
    ...variables,
    [addressesVariable]: JSON.stringify(addresses),
    // By it, a program can tell a rehearsal from a real update.
    PULUMI_CONVERSATION_REHEARSAL: "true",
  };
};

/**
 * A stack in a folder that only this user can read, with its own backend, passphrase, and settings;
 * the program stays where it is. It is made by Pulumi's own commands: secrets pass through their
 * standard input, and are encrypted on the disk. The folder is removed by `remove` and at the end of
 * this process; after SIGKILL, by the next copy.
 */
export class CopiedStack {
  readonly #place = privateFolder("pulumi-conversation-rehearsal-");
  /** Removes the folder with its content. */
  readonly remove = this.#place.remove;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    private readonly original: OriginalStack,
    private readonly options: CopyOptions,
  ) {
    const { folder } = this.#place;
    for (const name of ["backend", "cache"]) mkdirSync(join(folder, name), { mode: 0o700 });
    this.#env = environmentOf(original, options, folder);
  }

  /**
   * Copies the state, the configuration, and what the other stacks of the backend hold.
   *
   * @throws CommandFailure if Pulumi refuses the copy
   */
  async copy(): Promise<void> {
    await this.detach(this.options.detached);
    await this.#putConfig();
    const { stack, states } = this.original;
    const others = states.holdings.filter(({ own }) => !own).map((held) => held.stack);
    for (const name of new Set(others)) await this.addStack(await readOther(stack, name));
  }

  /**
   * Runs Pulumi on the copy, in the folder of the program.
   *
   * @param onLine gets each line; the output is then not kept
   */
  pulumi(args: readonly string[], onLine?: (line: string) => void): Promise<Ended> {
    const { place, env, names } = this.original.stack;
    const words = [...args, "--stack", names.stack, "--config-file", this.#configFile];
    const streamed = onLine ? { onLine, isStreamed: true as const } : {};
    return this.#run(words, resolve(place.folder, env.PULUMI_OPTION_CWD ?? "."), streamed);
  }

  /** Puts another stack beside it. */
  async addStack(other: OtherStack | undefined): Promise<void> {
    const { names } = this.original.stack;
    if (!other || (other.project === names.project && other.stack === names.stack)) return;
    const { project, stack, resources } = other;
    await this.#putState(project, stack, { version: 3, deployment: { resources: [...resources] } });
  }

  /**
   * Makes the copy's deletion of these resources call nobody, as that of a component. Their places
   * in the order of deletions stay.
   */
  detach(urns: readonly string[]): Promise<void> {
    const { document, stack } = this.original;
    const { resources, pending_operations: _, ...rest } = document.deployment;
    const detached = new Set(urns);
    const changed = (resources ?? []).map((each) =>
      detached.has(each.urn) ? asComponent(each) : each,
    );
    const deployment = { ...rest, resources: changed };
    return this.#putState(stack.names.project, stack.names.stack, { ...document, deployment });
  }

  /** Reads its state. */
  async readState(): Promise<StackExport> {
    const { project, stack } = this.original.stack.names;
    const words = ["stack", "export", "--stack", stack];
    const { stdout } = await this.#succeed(words, this.#projectFolder(project));
    return stackExportIn(stdout) ?? { version: 3, deployment: {} };
  }

  #run(args: readonly string[], cwd: string, options: CommandOptions = {}): Promise<Ended> {
    return runCommand(this.original.stack.place.command, [...args, "--non-interactive"], {
      cwd,
      env: this.#env,
      signal: this.options.signal,
      stops: pulumiStops,
      ...options,
    });
  }

  /** @throws CommandFailure with what Pulumi said if it fails */
  async #succeed(args: readonly string[], cwd: string, input?: string): Promise<Ended> {
    const ended = await this.#run(args, cwd, input === undefined ? {} : { input });
    this.options.signal.throwIfAborted();
    if (ended.code === 0) return ended;
    throw new CommandFailure(
      `Nothing was rehearsed: pulumi ${args.slice(0, 2).join(" ")} failed for the copy of the stack.\n${ended.lastLines.join("\n")}`,
    );
  }

  /** A folder that Pulumi takes for that of a project: it keeps the configuration of copies there. */
  #projectFolder(project: string): string {
    const path = join(this.#place.folder, `project-${encodeURIComponent(project)}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const settings = JSON.stringify({ name: project, runtime: "nodejs" });
    writeFileSync(join(path, "Pulumi.yaml"), settings, { mode: 0o600 });
    return path;
  }

  /** Creates a stack in the copy's backend, unless it exists, and replaces its state. */
  async #putState(project: string, stack: string, state: StackExport): Promise<void> {
    const cwd = this.#projectFolder(project);
    const file = join(cwd, "Pulumi.yaml");
    if (!stackFile(file, stack)) await this.#succeed(["stack", "init", stack, "--no-select"], cwd);
    const secrets = { type: "passphrase", state: { salt: saltOfStack(file, stack) } };
    // Pulumi warns if a state names no Pulumi version.
    const manifest = { time: new Date().toISOString(), magic: "", version: "" };
    const deployment = { manifest, ...state.deployment, secrets_providers: secrets };
    const document = JSON.stringify({ ...state, deployment });
    await this.#succeed(["stack", "import", "--stack", stack], cwd, document);
  }

  get #configFile(): string {
    const { project, stack } = this.original.stack.names;
    return join(this.#projectFolder(project), `Pulumi.${stack}.yaml`);
  }

  async #putConfig(): Promise<void> {
    const { project, stack } = this.original.stack.names;
    const cwd = this.#projectFolder(project);
    const config = [...configWithoutWaysOut(this.original)];
    const plain = config.flatMap(([key, { text = "", secret }]) => (secret ? [] : [[key, text]]));
    const content = {
      encryptionsalt: saltOfStack(join(cwd, "Pulumi.yaml"), stack),
      config: Object.fromEntries(plain),
    };
    // Every JSON document is a YAML document, too.
    writeFileSync(this.#configFile, JSON.stringify(content), { mode: 0o600 });
    for (const [key, { text = "", secret }] of config) {
      if (!secret) continue;
      // Pulumi removes one line break at the end.
      const words = ["config", "set", key, "--secret", "--stack", stack];
      await this.#succeed(words, cwd, `${text}\n`);
    }
  }
}
