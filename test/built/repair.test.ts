import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject, until } from "../support/emulated-project.js";
import { follow, guideCommands } from "../support/guide-commands.js";
import { isRunning, stopProviders } from "../support/processes.js";

const program = `
const { Authentication, ClientApplication, Participant } = require("pulumi-conversation");
const authentication = new Authentication("auth", { basicAuth: { username: "hub", password: "a-secret" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const application = new ClientApplication("app", { roles: [{ ...role, authentication, headers: { "X-Key": "another-secret" } }] });
new Participant("bot", { type: "custom_bot", application });
`;

let project: EmulatedProject;

afterEach(() => project?.close());

const up = ["up", "--yes", "--skip-preview"];

/** An `up` that waits for ever for the answer to the creation of the client application, which is made. */
const hanging = async () => {
  project = await emulatedProject(program);
  await project.faults({ on: "POST /clientapplications", kind: "drip" });
  const started = project.start(up);
  await until(async () => (await project.objects("clientapplications")).length === 1);
  return started;
};

/** The creations that are noted as under way: the next run settles anything else. */
const pending = () => project.held().pending.filter(({ type }) => type === "creating");

const repaired = async (...args: string[]) => {
  const { code, output, errors } = await project.tool(["repair", "--json", ...args]);
  return { code, errors, ...(output ? JSON.parse(output) : {}) };
};

test("while a run is at work it refuses; once it was killed, the guide brings all in order", async () => {
  const { child, ended } = await hanging();
  const providers = stopProviders(child, project.providerProcess);
  const calls = (await project.log()).length;
  const { code: refused, errors } = await repaired("--apply");
  expect(refused).toBe(1);
  expect(errors).toContain("the stack shop/prod is locked");
  expect(await project.log()).toHaveLength(calls);

  // The system would end a stopped process together with its parent. What goes on must not reach the
  // command line, which would write its state.
  child.kill("SIGSTOP");
  for (const pid of providers) process.kill(pid, "SIGCONT");
  child.kill("SIGKILL");
  await ended;
  const [unlock = "", look = "", apply = "", ...further] = guideCommands("killed-run");
  expect(await follow(project, unlock)).toMatchObject({ code: 0 });
  const before = { state: project.state(), writes: await project.writes() };
  const shown = await repaired();
  expect(shown).toMatchObject({
    ...{ code: 0, project: "shop", stack: "prod", applied: false, left: [] },
  });
  const [application] = await project.objects("clientapplications");
  expect(shown.steps).toEqual([
    expect.objectContaining({ action: "record", kind: "ClientApplication", id: application?.id }),
  ]);

  const { code, output } = await follow(project, look);
  expect({ code, state: project.state(), writes: await project.writes() }).toEqual({
    ...{ code: 0, ...before },
  });
  for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(output).toContain("To carry out these steps, run: npx pulumi-conversation repair --apply");

  expect(await follow(project, apply)).toMatchObject({ code: 0 });
  expect(providers.filter(isRunning)).toEqual([]);
  expect(pending()).toEqual([]);
  expect(await project.writes()).toEqual(before.writes);
  expect(project.state()).not.toMatch(/a-secret|another-secret/);
  expect(await repaired()).toMatchObject({ code: 0, steps: [], notes: [], left: [] });

  expect(further.length).toBeGreaterThan(0);
  for (const line of further)
    expect({ line, ...(await follow(project, line)) }).toMatchObject({ line, code: 0 });
  expect(await project.objects("clientapplications")).toHaveLength(1);
  await project.succeed(["preview", "--refresh", "--expect-no-changes"]);
  // The dependencies are those of the program, so the users go first.
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect((await project.log()).filter(({ status }) => status >= 400)).toEqual([]);
});
