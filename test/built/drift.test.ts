import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { toolLine } from "../support/tool-process.js";

/** A program with one object of each kind. */
const smallAccount = `
const c = require("pulumi-conversation");
const authentication = new c.Authentication("auth", { basicAuth: { username: "hub", password: "a-secret" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const application = new c.ClientApplication("app", { roles: [{ ...role, authentication }] });
new c.Participant("bot", { type: "custom_bot", application });
const channel = new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
const orchestration = new c.Orchestration("flow", { applications: { agentConfiguration: { agents: [application] } } });
new c.Account("shop", { address: "shop-01", channel, chatConfigurations: { orchestration, entryPoint: "1007", timeout: 30 } });
`;

let project: EmulatedProject;

beforeAll(async () => {
  // One secret inside a list makes a secret of the whole list in the state.
  const program = smallAccount.replace(
    'version: "v3"',
    'version: "v3", headers: { Key: "a-secret" }',
  );
  project = await emulatedProject(program, { switches: { secrets: "echo" } });
  await project.succeed(["up", "--yes", "--skip-preview"]);
});

afterAll(() => project?.close());

/** What the service holds, and so many channels that nobody manages. */
const withChannels = async (count: number): Promise<unknown> => {
  const snapshot = JSON.parse(JSON.stringify(await project.control("GET", "/snapshot")));
  const { channels } = snapshot.objects;
  const more = Array.from({ length: count }, (_, at) => ({
    ...{ ...channels[0], id: randomUUID(), type: `custom.n${at}`, description: "mine" },
  }));
  channels.push(...more);
  return snapshot;
};

const drift = async () => {
  const { code, output, errors } = await project.tool(["drift", "--json"]);
  return { code, errors, ...(output ? JSON.parse(output) : {}) };
};

test("nothing differs after up, and what others do is found; nothing is written", async () => {
  const before = { state: project.state(), writes: await project.writes() };
  expect(await drift()).toMatchObject({ code: 0, drift: false, compared: 6, uncheckable: [] });
  const compared = await project.tool(["compare", "live", "prod", "--json"]);
  expect({ code: compared.code, ...JSON.parse(compared.output) }).toMatchObject({
    ...{ code: 0, matched: 6, different: [] },
  });
  expect({ state: project.state(), writes: await project.writes() }).toEqual(before);

  const [channel] = await project.objects("channels");
  if (!channel) throw new Error("no channel");
  const { id, created: _, modified: __, ...body } = channel;
  await project.byHand("PUT", `/channels/${id}`, { ...body, displayName: "By hand" });
  const [account] = await project.objects("accounts");
  await project.byHand("DELETE", `/accounts/${account?.id}`);
  const made = await project.byHand("POST", "/channels", {
    ...body,
    type: "custom.hand",
    description: "mine",
  });

  const found = await drift();
  expect(found).toMatchObject({
    code: 2,
    changed: [{ id, changes: [{ path: "displayName", state: '"Web"', live: '"By hand"' }] }],
    deleted: [{ id: account?.id, kind: "Account" }],
    unmanaged: [{ id: made.id, standing: "foreign" }],
  });
  expect(JSON.stringify(found)).not.toContain("a-secret");
  const markdown = await project.tool(["drift", "--markdown"]);
  expect(markdown.code).toBe(2);
  expect(markdown.output.split("\n")[0]).toBe("<!-- pulumi-conversation drift shop/prod -->");
  const only = await project.tool(["drift", "--managed-only"]);
  expect(only.output).not.toContain(String(made.id));

  await project.succeed(["refresh", "--yes", "--skip-preview"]);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  await project.byHand("DELETE", `/channels/${made.id}`);
  expect(await drift()).toMatchObject({ code: 0, drift: false });
});

test("a stack that has made nothing has no drift but what is in no stack", async () => {
  await project.succeed(["stack", "init", "empty"]);
  const { code, output } = await project.tool(["drift", "--json", "--stack", "empty"]);
  const others = JSON.parse(output).otherStacks;
  expect({ code, others: others.length }).toEqual({ code: 0, others: 6 });
});

test("a reader that goes away before the end, such as head, gets no stack trace", async () => {
  await project.control("PUT", "/snapshot", await withChannels(1000));
  const line = `${toolLine} drift --json | head -c 9; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await project.inShell((env, cwd) =>
    promisify(execFile)("bash", ["-c", line], { env, cwd }),
  );
  expect(stdout).toBe('{\n  "proj2\n');
  // Only what shows that the command is at work.
  expect(stderr).toMatch(/^Comparing the stack with its account …\n(\.+\n)?$/);
});
