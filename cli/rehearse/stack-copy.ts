import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  addressesVariable,
  type EmulatedAddresses,
} from "../../provider/service/emulated-settings.js";
import { CommandFailure } from "../command.js";
import { privateFolder } from "../pulumi/own-folders.js";
import { type CommandOptions, type Ended, runCommand } from "../pulumi/processes.js";
import { lightRun, pulumiStops } from "../pulumi/pulumi-cli.js";
import {
  resourcesInState,
  type StackExport,
  type StateResource,
  stackExportIn,
} from "../pulumi/stack-documents.js";
import { stackStateOf } from "../pulumi/stack-states.js";
import { configWithoutWaysOut, type OriginalStack, withoutWaysOut } from "./original-stack.js";

interface CopyOptions {
  /**
   * Variables that point every profile at its emulator; all other settings by which a program may
   * reach an account are removed.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** The run calls no other. */
  readonly addresses: EmulatedAddresses;
  readonly signal: AbortSignal;
}

const environmentOf = (
  env: NodeJS.ProcessEnv,
  { variables, addresses }: CopyOptions,
  folder: string,
): NodeJS.ProcessEnv => {
  const direct = ["127.0.0.1", env.NO_PROXY ?? env.no_proxy].filter(Boolean).join(",");
  return {
    ...withoutWaysOut(env),
    ...lightRun(env),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    // Nobody knows it, so that the copy holds no secret that anybody can read.
    PULUMI_CONFIG_PASSPHRASE: randomBytes(24).toString("base64url"),
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
    // A preview prints an event on each line, as an update does.
    PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true",
    XDG_CACHE_HOME: join(folder, "cache"),
    NO_PROXY: direct,
    no_proxy: direct,
    ...variables,
    [addressesVariable]: JSON.stringify(addresses),
    // By it, a program can tell a rehearsal from a real update.
    PULUMI_CONVERSATION_REHEARSAL: "true",
  };
};

/** A resource as a component, which has no provider: its deletion calls nobody. */
const asComponent = ({ id: _, provider: __, ...resource }: StateResource): StateResource => ({
  ...resource,
  custom: false,
});

/**
 * A stack in a folder that only this user can read, with its own backend, passphrase, and settings;
 * the program stays where it is. It is made by Pulumi's own commands: secrets pass through their
 * standard input, and are encrypted on the disk. The folder is removed by `remove` and at the end of
 * this process; after SIGKILL, by the next copy.
 */
export class CopiedStack {
  readonly #place = privateFolder("pulumi-conversation-rehearsal-");
  readonly remove = this.#place.remove;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    private readonly original: OriginalStack,
    private readonly options: CopyOptions,
  ) {
    const { folder } = this.#place;
    for (const name of ["backend", "cache"]) mkdirSync(join(folder, name), { mode: 0o700 });
    this.#env = environmentOf(original.stack.env, options, folder);
  }

  /**
   * Copies the state, the configuration, and what the other stacks of the backend hold.
   *
   * @param detached as in `detach`
   * @throws CommandFailure if Pulumi refuses the copy
   */
  async copy(detached: readonly string[]): Promise<void> {
    const { project, stack } = this.original.stack.names;
    await this.#putConfig(await this.#create(project, stack));
    // Organizations have stacks of equal names; the copy has one organization.
    const copied = new Set([`${project}/${stack}`]);
    for (const other of this.original.others) {
      const { project: of, name } = stackStateOf(other, false);
      if (!of || !name || copied.has(`${of}/${name}`)) continue;
      copied.add(`${of}/${name}`);
      await this.#putResources(await this.#create(of, name), name, resourcesInState(other));
    }
    await this.detach(detached);
  }

  /**
   * Runs Pulumi on the copy, in the folder of the program.
   *
   * @param onLine gets each line; the output is not kept
   */
  pulumi(args: readonly string[], onLine: (line: string) => void): Promise<Ended> {
    const { place, names } = this.original.stack;
    const words = [...args, "--stack", names.stack, "--config-file", this.#configFile];
    return this.#run(words, place.folder, { onLine, isStreamed: true });
  }

  /**
   * Puts the original state back, in which the deletion of these resources calls nobody, as that of
   * a component. Their places in the order of deletions stay.
   */
  detach(urns: readonly string[]): Promise<void> {
    const { document, stack } = this.original;
    const detached = new Set(urns);
    const resources = resourcesInState(document).map((each) =>
      detached.has(each.urn) ? asComponent(each) : each,
    );
    const { project, stack: name } = stack.names;
    return this.#putResources(this.#projectFolder(project), name, resources);
  }

  /** Reads its state, secrets in plain text. */
  async readState(): Promise<StackExport> {
    const { project, stack } = this.original.stack.names;
    return this.#exported(this.#projectFolder(project), stack, "--show-secrets");
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
    return join(this.#place.folder, `project-${encodeURIComponent(project)}`);
  }

  get #configFile(): string {
    const { project, stack } = this.original.stack.names;
    return join(this.#projectFolder(project), `Pulumi.${stack}.yaml`);
  }

  /** Creates an empty stack, and returns the folder of its project. */
  async #create(project: string, stack: string): Promise<string> {
    const cwd = this.#projectFolder(project);
    mkdirSync(cwd, { recursive: true, mode: 0o700 });
    const settings = JSON.stringify({ name: project, runtime: "nodejs" });
    writeFileSync(join(cwd, "Pulumi.yaml"), settings, { mode: 0o600 });
    await this.#succeed(["stack", "init", stack, "--no-select"], cwd);
    return cwd;
  }

  async #exported(cwd: string, stack: string, ...options: string[]): Promise<StackExport> {
    const words = ["stack", "export", "--stack", stack, ...options];
    const { stdout } = await this.#succeed(words, cwd);
    return stackExportIn(stdout) ?? { version: 3, deployment: {} };
  }

  /** Replaces the resources of a stack. Pulumi encrypts the secrets in them. */
  async #putResources(
    cwd: string,
    stack: string,
    resources: readonly StateResource[],
  ): Promise<void> {
    const { version, deployment } = await this.#exported(cwd, stack);
    const document = JSON.stringify({ version, deployment: { ...deployment, resources } });
    await this.#succeed(["stack", "import", "--stack", stack], cwd, document);
  }

  async #putConfig(cwd: string): Promise<void> {
    const { stack } = this.original.stack.names;
    const config = [...configWithoutWaysOut(this.original.config)];
    const plain = config.flatMap(([key, { text = "", secret }]) => (secret ? [] : [[key, text]]));
    // Pulumi has written the salt there. Every JSON value is a YAML value, too.
    appendFileSync(this.#configFile, `config: ${JSON.stringify(Object.fromEntries(plain))}\n`);
    for (const [key, { text = "", secret }] of config) {
      if (!secret) continue;
      // Pulumi removes one line break at the end.
      const words = ["config", "set", key, "--secret", "--stack", stack];
      await this.#succeed(words, cwd, `${text}\n`);
    }
  }
}
