import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Failure } from "../failure.js";
import { runCommand } from "../process/run-command.js";
import { ownedBy } from "./own-processes.js";
import { interrupted, type PulumiProject } from "./pulumi-project.js";
import type { Scene } from "./scene.js";

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
  if (port === undefined) throw new Failure(`No port of ${HOST} is free for callbacks.`);
  const callbackPassword = randomBytes(18).toString("hex");
  await pulumi.configure({ callbackUrl: `http://${HOST}:${port}` }, { callbackPassword });
};

/**
 * Lets bot, agent and a scripted customer talk on the account that was declared.
 *
 * @throws Failure where the conversation does not come to its end
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
    throw new Failure(
      "The conversation did not come to its end; why is above. Run npm run quickstart again to go on.",
    );
};
