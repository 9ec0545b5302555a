import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { CommandFailure } from "../command.js";
import { runCommand } from "../process/run-command.js";
import { interrupted, ownedBy, type PulumiProject } from "./pulumi-project.js";
import { type Scene, showObjects } from "./quickstart-context.js";

const HOST = "127.0.0.1";
const LONGEST_MS = 180_000;

/** A port of this machine that nobody listens at; undefined where the one asked for is taken. */
const freePort = async (wanted = 0): Promise<number | undefined> => {
  const server = createServer();
  try {
    await once(server.listen(wanted, HOST), "listening");
    const address = server.address();
    return typeof address === "object" ? address?.port : undefined;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
};

/** The port in the callback addresses that an earlier run has declared. */
const declaredPort = (configFile: string): number | undefined => {
  const text = existsSync(configFile) ? readFileSync(configFile, "utf8") : "";
  const port = /:callbackUrl: http:\/\/[\d.]+:(\d+)/.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
};

/** Says in the stack's configuration where the callbacks are: where they were, if that port is free. */
export const configureCallbacks = async (
  pulumi: Pick<PulumiProject, "state" | "configure">,
): Promise<void> => {
  const declared = declaredPort(pulumi.state.configFile);
  if (declared !== undefined && (await freePort(declared)) !== undefined) return;
  const port = await freePort();
  if (port === undefined) throw new CommandFailure(`No port of ${HOST} is free for callbacks.`);
  const callbackPassword = randomBytes(18).toString("hex");
  await pulumi.configure({ callbackUrl: `http://${HOST}:${port}` }, { callbackPassword });
};

/**
 * Lets bot, agent and a scripted customer talk on the account that was declared.
 *
 * @throws CommandFailure where the conversation does not come to its end
 */
export const converse = async (scene: Scene, pulumi: PulumiProject): Promise<void> => {
  const { state, settings, signal, print } = scene;
  const ended = await runCommand(process.execPath, [join(pulumi.state.source, "converse.mts")], {
    cwd: state.root,
    env: {
      ...process.env,
      ...ownedBy(state.folder),
      ...settings,
      ORDERS_BOT_STACK: await pulumi.outputs(),
    },
    signal,
    timeoutMs: LONGEST_MS,
    onLine: (line) => print(line === "" ? "" : `  ${line}`),
  });
  if (signal.aborted) throw interrupted();
  if (ended.code !== 0)
    throw new CommandFailure(
      "The conversation did not come to its end; why is above. Run npm run quickstart again to go on.",
    );
};

const nextSteps = [
  ["Change what is declared", "examples/default-account/index.ts, then npm run quickstart"],
  ["See how the bot works", "examples/orders-bot/README.md"],
  ["Take it all down", "npm run quickstart -- --destroy"],
  ["Run the emulator", "npm run emulator"],
  ["Use a real service", "README.md, Configuration; npx pulumi-conversation doctor checks it"],
] as const;

/** Declares an account, and shows that the program and the service agree. */
const declareAccount = async ({ pulumi, title }: Scene): Promise<void> => {
  const project = pulumi("default-account");
  title("pulumi up: examples/default-account");
  await project.ready();
  await project.show("up", "--yes");
  title("pulumi preview: the program and the service agree");
  await project.show("preview", "--expect-no-changes");
};

/** Declares the account of a bot that runs here, and has a conversation on it. */
const tryBot = async (scene: Scene): Promise<void> => {
  const project = scene.pulumi("orders-bot");
  scene.title("pulumi up: examples/orders-bot, the account of a bot");
  await project.ready();
  await configureCallbacks(project);
  await project.show("up", "--yes", "--skip-preview");
  await showObjects(scene);
  scene.title("A conversation on the account just declared: examples/orders-bot/converse.mts");
  await converse(scene, project);
};

/** The whole way up: two accounts, what then exists, and a conversation. */
export const setUp = async (scene: Scene): Promise<void> => {
  await declareAccount(scene);
  await tryBot(scene);
  scene.title("What to try next");
  for (const [what, how] of nextSteps) scene.print(`  ${`${what}:`.padEnd(26)}${how}`);
};

/** The whole way back: every stack, the last one first, and the state folder. */
export const takeDown = async (scene: Scene): Promise<void> => {
  const { print, title, pulumi, state } = scene;
  const made = state.projects.filter((project) => project.hasStack()).reverse();
  for (const { name } of made) {
    const project = pulumi(name);
    title(`pulumi destroy: examples/${name}`);
    await project.ready();
    await project.show("destroy", "--yes", "--skip-preview");
    await project.removeStack();
  }
  await showObjects(scene);
  state.remove();
  print("\nThe stacks and the folder .quickstart are gone. npm run quickstart starts afresh.");
};
