import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { styleText } from "node:util";
import { startEmulator } from "../../emulator/index.js";
import { nameOnWire } from "../../provider/definition/kinds.js";
import { asText, textsInside } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import type { WireObject } from "../../provider/service/lists.js";
import { readSettings } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { emulatorEnvironment } from "../emulator-settings.js";
import { ensurePulumi } from "../get-pulumi/get-pulumi.js";
import { accessService } from "../inventory/open-account.js";
import { readAccount } from "../inventory/read-account.js";
import { oldNodeNote } from "../program-node.js";
import { tryLock } from "../pulumi/own-folders.js";
import { runCommand } from "../pulumi/processes.js";
import { environmentOnly } from "../pulumi/project-files.js";
import { hostLimits, isolatedEnvironment } from "../pulumi/pulumi-cli.js";
import { padded, textTable, wantsColour, wrapped, wrappedText } from "../terminal/columns.js";
import { type ProgressStream, progressOn } from "../terminal/progress.js";
import {
  interrupted,
  type ProjectOptions,
  type PulumiProject,
  pulumiProject,
  type StateFolder,
  stateFolder,
} from "./pulumi-project.js";

interface ServiceObject {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly body: WireObject;
}

/** Reads every object of every kind in the service that these settings name, in setup order. */
const readObjects = async (
  environment: Readonly<Record<string, string>>,
): Promise<readonly ServiceObject[]> => {
  const access = accessService(readSettings(environmentOnly(environment)), {
    environment: { ...process.env, ...environment },
  });
  try {
    const { kinds } = await readAccount(access);
    return kinds.flatMap(({ definition, objects }) =>
      [...objects].map(([id, body]) => {
        const name = asText(nameOnWire(definition, body));
        return { kind: definition.kind, id, name, body };
      }),
    );
  } finally {
    await access.close();
  }
};

/** Names of the other objects that an object mentions by ID. */
const mentioned = (object: ServiceObject, names: ReadonlyMap<string, string>): string => {
  const ids = new Set(textsInside(object.body).filter((text) => text !== object.id));
  return [...ids].flatMap((id) => names.get(id) ?? []).join("\n");
};

/**
 * The objects and their relations, as lines of a table; names are never shortened, as they
 * distinguish objects.
 */
export const objectTable = (objects: readonly ServiceObject[]): readonly string[] => {
  const names = new Map(objects.map(({ id, name }) => [id, name]));
  return textTable(
    ["kind", "name", "refers to"],
    objects.map((object) => [object.kind, object.name, mentioned(object, names)]),
    { width: 78, whole: ["kind"] },
  );
};

/** A running quick start: where it writes, and its means. */
interface QuickstartContext extends ProjectOptions {
  readonly state: StateFolder;
  readonly title: (text: string) => void;
}

const HOST = "127.0.0.1";
/** Column at which the instructions begin. */
const HOW = 28;
const LONGEST_MS = 180_000;

const isFreePort = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, HOST), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
};

/** A free port, below those that systems give to connections, so that none takes it before the bot listens. */
const findPort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(10_000, 32_000);
    if (await isFreePort(port)) return port;
  }
  throw new CommandFailure(`No port on ${HOST} is free for callbacks.`);
};

/** The port in the callback URLs that an earlier run has declared. */
const declaredPort = (configFile: string): number | undefined => {
  const text = existsSync(configFile) ? readFileSync(configFile, "utf8") : "";
  const port = /:callbackUrl: http:\/\/[\d.]+:(\d+)/.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
};

/**
 * Writes the callback URLs into the stack's configuration: the earlier ones, if that port is
 * free.
 */
export const configureCallbacks = async (
  pulumi: Pick<PulumiProject, "state" | "configure">,
): Promise<void> => {
  const declared = declaredPort(pulumi.state.configFile);
  if (declared !== undefined && (await isFreePort(declared))) return;
  const port = await findPort();
  const callbackPassword = randomBytes(18).toString("hex");
  await pulumi.configure({ callbackUrl: `http://${HOST}:${port}` }, { callbackPassword });
};

/**
 * Lets the bot, the agent, and a scripted customer talk on the declared account.
 *
 * @throws CommandFailure if the conversation does not finish
 */
const converse = async (context: QuickstartContext, pulumi: PulumiProject): Promise<void> => {
  const { state, settings, signal, alive } = context;
  const outputs = await pulumi.outputs();
  const life = alive("the conversation");
  const ended = await runCommand(process.execPath, [join(pulumi.state.source, "converse.mts")], {
    cwd: state.root,
    env: {
      ...isolatedEnvironment(process.env),
      ...settings,
      ORDERS_BOT_STACK: outputs,
    },
    signal,
    timeoutMs: LONGEST_MS,
    onLine: (line) => life.print(line === "" ? "" : `  ${line}`),
  }).finally(life.end);
  if (signal.aborted) throw interrupted();
  if (ended.code !== 0)
    throw new CommandFailure(
      "The conversation did not finish; see the reason above. To continue, run npm run quickstart again.",
    );
};

const nextSteps = [
  ["Create your own project", ownCommand("init ../shop")],
  ["Change the account", "examples/default-account/index.ts, then npm run quickstart"],
  ["See how the bot works", "examples/orders-bot/README.md"],
  ["Remove everything", "npm run quickstart -- --destroy"],
  ["Run the emulator", "npm run emulator"],
  ["Use a real service", "docs/guides/first-account.md, step 5"],
] as const;

/** What to do and how, side by side within 80 columns. */
const step = (what: string, how: string): readonly string[] =>
  wrapped(how, 80 - HOW).map((line, at) => padded(at === 0 ? `  ${what}:` : "", HOW) + line);

const showObjects = async ({ print, title, settings }: QuickstartContext): Promise<void> => {
  const found = await readObjects(settings);
  title("Objects in the service");
  const lines = found.length === 0 ? ["none"] : objectTable(found);
  for (const line of lines) print(`  ${line}`);
};

/** Declares an account, and shows that the program and the service agree. */
const declareAccount = async (context: QuickstartContext): Promise<void> => {
  const project = pulumiProject(context.state.project("default-account"), context);
  context.title("pulumi up: examples/default-account");
  await project.ready();
  await project.show("up", "--yes");
  context.title("pulumi preview: the program and the service agree");
  await project.show("preview", "--expect-no-changes");
};

/** Declares the account of a bot that runs here, and has a conversation on it. */
const tryBot = async (context: QuickstartContext): Promise<void> => {
  const project = pulumiProject(context.state.project("orders-bot"), context);
  context.title("pulumi up: examples/orders-bot, a bot's account");
  await project.ready();
  await configureCallbacks(project);
  await project.show("up", "--yes", "--skip-preview");
  await showObjects(context);
  context.title("A conversation on this account: examples/orders-bot/converse.mts");
  await converse(context, project);
};

/** The whole way up: two accounts, what then exists, and a conversation. */
const setUp = async (context: QuickstartContext): Promise<void> => {
  await declareAccount(context);
  await tryBot(context);
  context.title("Next steps");
  const tooOld = await oldNodeNote(process.env);
  if (tooOld !== undefined) context.print(wrappedText(tooOld, "  ").join("\n"));
  for (const line of nextSteps.flatMap(([what, how]) => step(what, how))) context.print(line);
};

/** The whole way back: every stack, the last one first, and the state folder. */
const takeDown = async (context: QuickstartContext): Promise<void> => {
  const { title, state } = context;
  const made = state.projects.filter((project) => project.hasStack()).reverse();
  for (const kept of made) {
    const project = pulumiProject(kept, context);
    title(`pulumi destroy: examples/${kept.name}`);
    await project.ready();
    await project.show("destroy", "--yes", "--skip-preview");
    await project.removeStack();
  }
  await showObjects(context);
};

interface QuickstartOptions {
  /** Folder of the checkout. */
  readonly root: string;
  /** Take down instead of set up. */
  readonly destroy: boolean;
  /** Aborting ends everything that was started. */
  readonly signal: AbortSignal;
  readonly stream: ProgressStream;
}

const PLAN = "enterprise";

const play = async (options: QuickstartOptions, state: StateFolder): Promise<void> => {
  const { signal, stream, destroy } = options;
  const coloured = wantsColour(stream);
  const print = (line: string) => void stream.write(`${line}\n`);
  const title = (text: string) =>
    print(`\n${coloured ? styleText("bold", text, { validateStream: false }) : text}`);
  const progress = progressOn(stream);
  const cli = await ensurePulumi({ progress, signal });
  print(`Pulumi ${cli.version} from ${cli.origin}:\n  ${cli.command}`);
  const limits = hostLimits(cli, process.env);
  if (limits !== undefined) print(wrappedText(limits, "  ").join("\n"));
  state.prepare();
  const emulator = await startEmulator({ plan: PLAN, data: state.data, controlSecret: true });
  try {
    if (signal.aborted) throw interrupted();
    print(`Conversation service emulator, plan ${PLAN}:\n  ${emulator.baseUrl}`);
    const settings = emulatorEnvironment(emulator, PLAN);
    const { folder } = state;
    const output = { print, title, coloured, alive: progress.alive };
    await (destroy ? takeDown : setUp)({ state, cli, folder, settings, signal, ...output });
  } finally {
    await emulator.close();
  }
  if (!destroy) return;
  // After the emulator, which writes its data there when it ends.
  state.remove();
  print(
    "\nThe stacks and the .quickstart folder were removed.\nTo start over, run: npm run quickstart",
  );
};

/**
 * The whole way from nothing to a conversation: Pulumi, the emulator, `pulumi up` on the examples,
 * what then exists, a preview without changes, and a conversation on the account of a bot. Or back.
 *
 * @throws CommandFailure that says what went wrong and what to do; nothing that was started is left running
 */
export const runQuickstart = async (options: QuickstartOptions): Promise<void> => {
  const state = stateFolder(options.root);
  if (options.destroy && !state.projects.some((project) => project.hasStack())) {
    options.stream.write("There is nothing to remove, because no quick start has run here.\n");
    return;
  }
  const unlock = tryLock(state.lock);
  if (!unlock)
    throw new CommandFailure(
      "Another quick start is running in this folder. Wait until it ends, or stop it.",
    );
  try {
    await play(options, state);
  } finally {
    unlock();
  }
};
