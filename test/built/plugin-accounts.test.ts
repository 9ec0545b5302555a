import { startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { providerToken } from "../../provider/kernel/pulumi.js";
import {
  type EmulatedProject,
  emulatedProject,
  killCreation,
} from "../support/emulated-project.js";
import { EmulatorControl } from "../support/emulator-control.js";

/* A program may give a provider the address of an account: every command looks there, or leaves it alone. */

let project: EmulatedProject;
let real: Awaited<ReturnType<typeof startEmulator>>;
let account: EmulatorControl;

beforeAll(async () => {
  real = await startEmulator();
  account = new EmulatorControl(real);
  const { baseUrl, tokenUrl, clientId, clientSecret } = real;
  project = await emulatedProject(
    `const c = require("pulumi-conversation");
    const pulumi = require("@pulumi/pulumi");
    const us = JSON.parse(process.env.US);
    const provider = new c.Provider("us", { ...us, clientSecret: pulumi.secret(us.clientSecret) });
    const shown = (displayName) => ({ type: "custom.web", displayName, icon: "aVZC" });
    const moved = process.env.MOVED ? [{ ...shown("Near"), type: "custom.near" }, { provider }] : [shown("Near")];
    const near = process.env.BOTH ? [new c.Channel("near", ...moved)] : [];
    new c.Channel("far", shown(process.env.NAME ?? "Far"), { provider });
    new c.Authentication("desk", { name: "desk", type: "basic", basicAuth: { username: "hub", password: "canary" } }, { provider, dependsOn: near });`,
    {},
    { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }), BOTH: "1" },
    "plugin",
  );
});

afterAll(async () => {
  await project?.close();
  await real.close();
});

const up = ["up", "--yes", "--skip-preview"] as const;

const ownerships = (): readonly unknown[] =>
  project
    .held()
    .resources.filter(({ type }) => type === providerToken)
    .map(({ inputs }) => inputs?.ownership)
    .sort();

/** What a command says that would reach the account from beside an emulator. */
const refused = /baseUrl and tokenUrl of the provider \S+ would point to a real account/;

test("before the first up, neither rehearse nor a run beside an emulator reaches the account", async () => {
  const rehearsed = await project.tool(["rehearse"]);
  expect(rehearsed.output + rehearsed.errors).not.toContain(real.clientSecret);
  const words = ["emulator", "--", "pulumi", ...up, "--non-interactive"];
  // Without the channel near, which the emulator beside would get, and the state would keep.
  const { code, output, errors } = await project.tool(words, { BOTH: "" });
  expect(code).not.toBe(0);
  expect(output + errors).toMatch(refused);
  expect(output + errors).not.toContain(real.clientSecret);
  expect(await account.log()).toEqual([]);
  expect(project.state()).not.toContain('"Far"');
});

test("two providers serve two accounts, each with its own ownership", async () => {
  await project.succeed(up);
  const kept = ownerships();
  expect(new Set(kept).size).toBe(2);
  expect(await account.objects("channels")).toMatchObject([{ displayName: "Far" }]);
  expect(await project.objects("channels")).toMatchObject([{ displayName: "Near" }]);
  expect(project.state()).not.toContain(real.clientSecret);
  await project.succeed([...up, "--expect-no-changes"]);
  expect(ownerships()).toEqual(kept);
});

test("beside an emulator, nothing reaches what a provider of the state has made", async () => {
  const before = await account.log();
  const words = ["pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive"];
  const { code, output, errors } = await project.tool(["emulator", "--", ...words]);
  expect(code).not.toBe(0);
  expect(output + errors).toMatch(refused);
  expect(await account.log()).toEqual(before);
});

test("rehearse puts an emulator in the place of each account of the state, and calls neither but for lists", async () => {
  const before = await account.objects();
  const seen = (await account.log()).length;
  const { code, output, errors } = await project.tool(["rehearse", "--json"], { NAME: "New" });
  expect(errors).not.toContain(real.clientSecret);
  expect(output).not.toContain("canary");
  const { outcome } = JSON.parse(output);
  expect(outcome).toMatchObject({ passes: true, undeclared: [] });
  expect(outcome.steps).toMatchObject([
    {
      ...{ kind: "Channel", profile: "provider us", operation: "update" },
      ...{
        id: before.find(({ type }) => type === "custom.web")?.id,
        properties: ["displayName"],
      },
    },
  ]);
  expect(code).toBe(0);
  expect(await account.objects()).toEqual(before);
  const since = (await account.log()).slice(seen);
  expect(since.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(since.length).toBeGreaterThan(0);
});

test("drift looks for the objects of a provider in its own account", async () => {
  expect(await project.tool(["drift"])).toMatchObject({ code: 0 });
  const [far] = await account.objects("channels");
  await account.byHand("PUT", `/channels/${far?.id}`, { ...far, displayName: "By hand" });
  const { output } = await project.tool(["drift", "--json"]);
  expect(JSON.parse(output)).toMatchObject({
    deleted: [],
    changed: [{ name: "custom.web", id: far?.id }],
  });
});

test("orphans finds and deletes what no state holds in the account of a provider", async () => {
  const urn = `urn:pulumi:prod::shop::${project.token("Channel")}::far`;
  await project.succeed(["state", "delete", "--yes", urn]);
  const [left] = await account.objects("channels");
  const listed = await project.tool(["orphans", "--json"]);
  expect(JSON.parse(listed.output), listed.errors).toMatchObject([
    { kind: "Channel", id: left?.id, standing: "leftover" },
  ]);
  const deleted = await project.tool(["orphans", "--delete", "--json"]);
  expect(JSON.parse(deleted.output), deleted.errors).toMatchObject([
    { id: left?.id, deleted: true },
  ]);
  expect(await account.objects("channels")).toEqual([]);
  expect(await project.objects("channels")).toHaveLength(1);
});

test("repair finds what a killed run made in the account of a provider", async () => {
  const made = await killCreation(project, {}, account);
  await project.release();
  const { output, errors } = await project.tool(["repair", "--apply", "--json"]);
  expect(JSON.parse(output).steps, errors).toContainEqual(
    expect.objectContaining({ action: "record", kind: "Channel", id: made, done: true }),
  );
  await project.succeed(up);
  expect(await account.objects("channels")).toMatchObject([{ id: made }]);
});

test("a resource that comes to an account hides from nobody there whose the objects are", async () => {
  const urn = (name: string) =>
    `urn:pulumi:prod::shop::${project.token("Authentication")}::${name}`;
  await project.succeed(["state", "rename", "--yes", urn("desk"), "counter"]);
  const { code, output } = await project.pulumi(up, { MOVED: "1" });
  expect(code).not.toBe(0);
  expect(output).toContain(`belongs to ${urn("counter")} in the state of this stack`);
  expect(await account.objects("channels")).toHaveLength(2);
});
