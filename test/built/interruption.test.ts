import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, type TestContext, test } from "vitest";
import { packageRoot } from "../../provider/kernel/package.js";
import { type Door, doors } from "../support/door.js";
import { type EmulatedProject, emulatedProject, until } from "../support/emulated-project.js";
import { languageHosts } from "../support/language-hosts.js";
import { descendants, isRunning } from "../support/processes.js";

/**
 * How a run reaches the life cycle. A language host runs the plugin of a folder: the engine gives it no signal,
 * and ends it without one that it could handle.
 */
type Delivery = Door | "plugin of a folder";

const deliveries: readonly Delivery[] = [
  ...doors,
  ...(doors.includes("plugin") ? ["plugin of a folder" as const] : []),
];

const names = ["a", "b", "c", "d", "e"];
const program = `
const { Channel } = require("pulumi-conversation");
for (const name of ${JSON.stringify(names)}) new Channel(name, { type: "custom." + name, displayName: name, icon: "aVZC" });
`;

/** The same program for the host that runs no programs in JavaScript. */
const folderSettings = {
  name: "shop",
  runtime: "yaml",
  plugins: { providers: [{ name: "conversation", path: join(packageRoot(), "plugin") }] },
  resources: Object.fromEntries(
    names.map((name) => {
      const properties = { type: `custom.${name}`, displayName: name, icon: "aVZC" };
      return [name, { type: "conversation:Channel", properties }];
    }),
  ),
};

const up = ["up", "--yes", "--skip-preview"];
/** The second creation waits for seconds. */
const slow = { CONVERSATION_PLAN: "developer", CONVERSATION_BURST: "1" };

let project: EmulatedProject;
afterEach(() => project?.close());

const open = async (delivery: Delivery, context: TestContext): Promise<void> => {
  if (delivery !== "plugin of a folder") {
    project = await emulatedProject(program, {}, {}, delivery);
    return;
  }
  const hosts = languageHosts();
  if ("reason" in hosts) return context.skip(hosts.reason);
  const opened = await emulatedProject("", {}, hosts.environment, "plugin");
  writeFileSync(join(opened.folder, "Pulumi.yaml"), JSON.stringify(folderSettings));
  project = Object.assign(opened, { providerProcess: "run-plugin" });
};

const channels = async (): Promise<string[]> =>
  (await project.objects("channels")).map(({ id }) => id);

/** Starts an `up`, and goes on when the service has so many channels. */
const startUp = async (
  count: number,
  environment: Readonly<Record<string, string>>,
  ...options: readonly string[]
) => {
  const { child, ended } = project.start([...up, ...options], environment);
  await until(async () => (await channels()).length === count);
  const providers = descendants(child.pid ?? 0, project.providerProcess);
  expect(providers).not.toEqual([]);
  return { child, ended, providers };
};

/** Asked once during a wait: it ends at once, says that nothing was sent, and leaves a clean state. */
const stopOnce = async (count: number, signal: NodeJS.Signals): Promise<void> => {
  const { child, ended } = await startUp(count, slow);
  child.kill(signal);
  const { code, output } = await ended;
  expect(code).not.toBe(0);
  expect(output).toContain("Nothing was sent. To continue, run the command again.");
  expect(await channels()).toHaveLength(count);
  expect(project.held().pending).toEqual([]);
};

/** Ctrl-C during a wait, and again at once: nothing runs on. */
const stopTwice = async (count: number): Promise<void> => {
  const { child, ended, providers } = await startUp(count, slow);
  child.kill("SIGINT");
  await pause(20);
  child.kill("SIGINT");
  expect((await ended).code).not.toBe(0);
  await until(() => !providers.some(isRunning));
  expect(await channels()).toHaveLength(count);
};

/** kill -9 of the command line alone, while creations wait: the provider ends, and sends nothing more. */
const killEngine = async (count: number): Promise<void> => {
  const { child, ended, providers } = await startUp(count, slow);
  child.kill("SIGKILL");
  await ended;
  await until(() => !providers.some(isRunning));
  expect(await channels()).toHaveLength(count);
  await project.release();
};

/** Ends a run after the service acted, before the answer: by Ctrl-C twice, or by kill -9 of its provider. */
const endAfterActing = async (count: number, by: "SIGINT" | "SIGKILL"): Promise<void> => {
  await project.faults({ on: "POST /channels", kind: "drip" });
  const { child, ended, providers } = await startUp(count, {}, "--parallel", "1");
  if (by === "SIGKILL") for (const pid of providers) process.kill(pid, by);
  else
    for (const _ of ["once", "twice"]) {
      child.kill(by);
      await pause(500);
    }
  expect((await ended).code).not.toBe(0);
  // What the engine leaves behind is not ours to end; it ends with its call.
  for (const pid of providers) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  await project.release();
};

test.for(deliveries)(
  "runs that are stopped and killed, during a wait and after the service acted: the next up has exactly what is declared (%s)",
  async (delivery, context) => {
    await open(delivery, context);
    await stopOnce(1, delivery === "plugin" ? "SIGTERM" : "SIGINT");
    await stopTwice(2);
    await killEngine(3);
    await endAfterActing(4, "SIGINT");
    await endAfterActing(5, "SIGKILL");
    const made = await channels();
    await project.succeed(up);
    expect(await channels()).toEqual(made);
    expect(made.filter((id) => project.state().includes(id))).toHaveLength(5);
  },
);
