import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, type TestContext, test } from "vitest";
import { packageRoot } from "../../provider/kernel/package.js";
import { withoutPace } from "../support/cli-project.js";
import { type Door, doorOfTests, doors } from "../support/door.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { languageHosts } from "../support/language-hosts.js";
import { descendants, isRunning, stopProviders } from "../support/processes.js";

/**
 * How a run reaches the life cycle. A language host runs the plugin of a folder: the engine gives it no signal,
 * and ends it without one that it could handle.
 */
type Delivery = Door | "plugin of a folder";

const plugins: readonly Delivery[] = doors.includes("plugin")
  ? ["plugin", "plugin of a folder"]
  : [];
const deliveries: readonly Delivery[] = [...new Set([...doors, ...plugins])];

const names = ["a", "b", "c", "d"];
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

let project: EmulatedProject;

const openFolder = async (
  options: Parameters<typeof emulatedProject>[1],
  limits: Readonly<Record<string, string>>,
  context: TestContext | undefined,
): Promise<void> => {
  const host = languageHosts();
  if ("reason" in host) {
    context?.skip(host.reason);
    throw new Error(host.reason);
  }
  const environment = { ...limits, ...host.environment };
  const opened = await emulatedProject("", options, environment, "plugin");
  writeFileSync(join(opened.folder, "Pulumi.yaml"), JSON.stringify(folderSettings));
  project = Object.assign(opened, { providerProcess: "run-plugin" });
};

const open = async (
  options: Parameters<typeof emulatedProject>[1] = {},
  delivery: Delivery = doorOfTests,
  context?: TestContext,
): Promise<void> => {
  const limits = options.plan ? { CONVERSATION_PLAN: options.plan, CONVERSATION_BURST: "1" } : {};
  if (delivery === "plugin of a folder") await openFolder(options, limits, context);
  else project = await emulatedProject(program, options, limits, delivery);
};

afterEach(() => project?.close());

const channels = async (): Promise<string[]> =>
  (await project.objects("channels")).map(({ id }) => id);

const until = async (what: () => Promise<boolean>): Promise<void> => {
  while (!(await what())) await pause(50);
};

const pendingOperations = (): number =>
  JSON.parse(project.state()).checkpoint.latest.pending_operations?.length ?? 0;

/** One clean run makes exactly what is declared, whatever was interrupted before. */
const expectRecovery = async (): Promise<void> => {
  await project.release();
  await expectWhole();
};

const expectWhole = async (): Promise<void> => {
  await project.succeed(["up", "--yes", "--skip-preview"], withoutPace);
  expect(await channels()).toHaveLength(4);
  const kept = (await channels()).filter((id) => project.state().includes(id));
  expect(kept).toHaveLength(4);
};

test.for([
  ...deliveries.map((delivery) => ["SIGINT", delivery] as const),
  ...plugins.slice(0, 1).map((delivery) => ["SIGTERM", delivery] as const),
])(
  "one %s during a wait ends it at once, says that nothing was sent, and leaves a clean state (%s)",
  async ([signal, delivery], context) => {
    await open({ plan: "developer", burst: 1 }, delivery, context);
    const { child, ended } = project.start(["up", "--yes", "--skip-preview"]);
    await until(async () => (await channels()).length === 1);
    const made = await channels();
    child.kill(signal);
    const { code, output } = await ended;
    expect(code).not.toBe(0);
    expect(output).toContain("Nothing was sent. To continue, run the command again.");
    expect(await channels()).toEqual(made);
    expect(pendingOperations()).toBe(0);
  },
);

test.for(deliveries)(
  "Ctrl-C during a wait, and again at once: nothing runs on, and the next up is right (%s)",
  async (delivery, context) => {
    await open({}, delivery, context);
    const slow = { CONVERSATION_PLAN: "developer", CONVERSATION_BURST: "1" };
    const { child, ended } = project.start(["up", "--yes", "--skip-preview"], slow);
    await until(async () => (await channels()).length === 1);
    const running = descendants(child.pid ?? 0, project.providerProcess);
    expect(running).not.toEqual([]);
    child.kill("SIGINT");
    await pause(20);
    child.kill("SIGINT");
    expect((await ended).code).not.toBe(0);
    await until(async () => !running.some(isRunning));
    expect(await channels()).toHaveLength(1);
    await expectWhole();
  },
);

// To the engine SIGTERM is as SIGINT, and SIGHUP as SIGKILL; how the provider ends is what its delivery decides.
test.for([
  ["SIGKILL", 1, doorOfTests],
  ["SIGINT", 2, doorOfTests],
  ...plugins.map((delivery) => ["SIGINT", 2, delivery] as const),
] as const)(
  "%s of the command line, %i times, after the service acted: the next up finds the object (%s)",
  async ([signal, times, delivery], context) => {
    await open({}, delivery, context);
    await project.faults({ on: "POST /channels", kind: "drip" });
    const { child, ended } = project.start(["up", "--yes", "--skip-preview", "--parallel", "1"]);
    await until(async () => (await channels()).length === 1);
    const providers = descendants(child.pid ?? 0, project.providerProcess);
    for (let round = 0; round < times; round += 1) {
      child.kill(signal);
      await pause(500);
    }
    await ended;
    await expectRecovery();
    // What the engine leaves behind when it is killed is not ours to end; it ends with its call.
    for (const pid of providers) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  },
);

test.for(deliveries)(
  "kill -9 of the command line alone, while creations wait: the provider ends, and sends nothing more (%s)",
  async (delivery, context) => {
    await open({ plan: "developer", burst: 1 }, delivery, context);
    const { child, ended } = project.start(["up", "--yes", "--skip-preview"]);
    await until(async () => (await channels()).length === 1);
    const running = descendants(child.pid ?? 0, project.providerProcess);
    expect(running).not.toEqual([]);
    child.kill("SIGKILL");
    await ended;
    await until(async () => !running.some(isRunning));
    expect(await channels()).toHaveLength(1);
  },
);

test("what was interrupted is found by its mark, and deleted on demand once no run holds the lock", async () => {
  await open();
  await project.faults({ on: "POST /channels", kind: "drip", after: 1 });
  const { child, ended } = project.start(["up", "--yes", "--skip-preview", "--parallel", "1"]);
  await until(async () => (await channels()).length === 2);
  const providers = stopProviders(child, project.providerProcess);
  const remove = () => project.tool(["orphans", "--delete", "--json"]);
  const underWay = await remove();
  expect(underWay.code).toBe(1);
  expect(JSON.parse(underWay.output)).toMatchObject({ error: { exitCode: 1 } });
  expect(underWay.errors).toContain(`the stack shop/prod is locked (`);
  expect(underWay.errors).toContain(`process ${child.pid},`);
  child.kill("SIGKILL");
  await ended;
  expect((await remove()).errors).toContain("pulumi cancel");
  expect(await channels()).toHaveLength(2);
  await project.release();
  const kept = (await channels()).filter((id) => project.state().includes(id));
  expect(kept).toHaveLength(1);
  const [lost] = (await channels()).filter((id) => !kept.includes(id));
  const found = JSON.parse((await project.tool(["orphans", "--json"])).output);
  const label = expect.stringContaining("shop/prod");
  const orphan = { kind: "Channel", id: lost, label, standing: "leftover", pending: true };
  expect(found).toEqual([expect.objectContaining(orphan)]);
  expect(JSON.parse((await remove()).output)).toMatchObject([{ id: lost, deleted: true }]);
  expect(await channels()).toEqual(kept);
  for (const pid of providers) if (isRunning(pid)) process.kill(pid, "SIGKILL");
});

test.each(doors)(
  "kill -9 of the provider process after the service acted: the next up finds the object (%s)",
  async (door) => {
    await open({}, door);
    await project.faults({ on: "POST /channels", kind: "drip" });
    const { child, ended } = project.start(["up", "--yes", "--skip-preview", "--parallel", "1"]);
    await until(async () => (await channels()).length === 1);
    for (const pid of descendants(child.pid ?? 0, project.providerProcess))
      process.kill(pid, "SIGKILL");
    expect((await ended).code).not.toBe(0);
    await expectRecovery();
  },
);
