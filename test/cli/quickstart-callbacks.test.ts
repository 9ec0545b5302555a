import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type PulumiProject, stateFolder } from "../../cli/quickstart/pulumi-project.js";
import { configureCallbacks } from "../../cli/quickstart/run-quickstart.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A project whose configuration says this, and what is set in it. */
const project = (configuration?: string) => {
  const state = stateFolder(temporaryFolder()).project("orders-bot");
  mkdirSync(state.folder, { recursive: true });
  if (configuration !== undefined) writeFileSync(state.configFile, configuration);
  const set: Readonly<Record<string, string>>[] = [];
  const configure: PulumiProject["configure"] = async (plain, secret) => {
    set.push({ ...plain, ...secret });
  };
  return { pulumi: { state, configure }, set };
};

/** Takes a port for as long as the test runs. */
const taken = async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const release = async (): Promise<void> => {
    if (server.listening) await once(server.close(), "close");
  };
  onTestFinished(release);
  const configuration = `config:\n  orders-bot:callbackUrl: http://127.0.0.1:${port}\n`;
  return { port, release, configuration };
};

test("a new stack gets a port of this machine and a password", async () => {
  const { pulumi, set } = project();
  await configureCallbacks(pulumi);
  const password = expect.stringMatching(/^[0-9a-f]{36}$/);
  const callbackUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(set).toEqual([{ callbackUrl, callbackPassword: password }]);
});

test("the port of an earlier run is kept", async () => {
  const { configuration, release } = await taken();
  await release();
  const { pulumi, set } = project(configuration);
  await configureCallbacks(pulumi);
  expect(set).toEqual([]);
});

test("where somebody else has taken it, another is declared", async () => {
  const { configuration, port } = await taken();
  const { pulumi, set } = project(configuration);
  await configureCallbacks(pulumi);
  expect(set).toHaveLength(1);
  expect(set[0]?.callbackUrl).not.toBe(`http://127.0.0.1:${port}`);
});

test("each project has the name that its project file says", () => {
  const { projects } = stateFolder(packageRoot());
  const names = projects.map(
    ({ source }) => /^name: (.*)$/m.exec(readFileSync(join(source, "Pulumi.yaml"), "utf8"))?.[1],
  );
  expect(names).toEqual(projects.map(({ name }) => name));
});
