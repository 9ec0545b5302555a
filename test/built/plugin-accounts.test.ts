import { setTimeout as pause } from "node:timers/promises";
import { startEmulator } from "pulumi-conversation/emulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { descendants } from "../support/processes.js";
import { toolMain } from "../support/tool-process.js";

/* A program may give a provider the address of an account: every command looks there, or leaves it alone. */

let project: EmulatedProject;
let real: Awaited<ReturnType<typeof startEmulator>>;
let account: EmulatorControl;

const open = async (): Promise<void> => {
  real = await startEmulator();
  account = new EmulatorControl(real);
  const { baseUrl, tokenUrl, clientId, clientSecret } = real;
  project = await emulatedProject(
    `const c = require("pulumi-conversation");
    const pulumi = require("@pulumi/pulumi");
    const us = JSON.parse(process.env.US);
    const provider = new c.Provider("us", us.clientSecret ? { ...us, clientSecret: pulumi.secret(us.clientSecret) } : us);
    const shown = (displayName) => ({ type: "custom.web", displayName, icon: "aVZC" });
    if (process.env.BOTH) new c.Channel("near", shown("Near"));
    new c.Channel("far", shown(process.env.NAME ?? "Far"), { provider });
    new c.Authentication("desk", { name: "desk", type: "basic", basicAuth: { username: "hub", password: "canary" } }, { provider });`,
    {},
    { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }), BOTH: "1" },
    "plugin",
  );
};

const close = async (): Promise<void> => {
  await project?.close();
  await real.close();
};

const up = ["up", "--yes", "--skip-preview"] as const;

describe("from before the first up on", () => {
  beforeAll(open);
  afterAll(close);

  test.each([["rehearse"], ["drift", "--preview"]])(
    "%s %s writes nothing to the account of an explicit provider",
    async (...args) => {
      const { output, errors } = await project.tool(args.filter(Boolean));
      expect(output + errors).not.toContain(real.clientSecret);
      expect(await account.objects()).toEqual([]);
    },
  );

  test("beside an emulator, the first up is refused before it reaches the account", async () => {
    const before = await account.log();
    const words = ["emulator", "--", "pulumi", ...up, "--non-interactive"];
    // Without the channel near, which the emulator beside would get, and the state would keep.
    const { code, output, errors } = await project.tool(words, { BOTH: "" });
    expect(code).not.toBe(0);
    expect(output + errors).toMatch(
      /baseUrl and tokenUrl of the provider \S+ would point to a real account/,
    );
    expect(output + errors).not.toContain(real.clientSecret);
    expect(await account.log()).toEqual(before);
    expect(project.state()).not.toContain('"Far"');
  });

  test("beside an emulator, nothing reaches what a provider of the state has made", async () => {
    await project.succeed(up);
    const before = await account.log();
    for (const words of [
      ["pulumi", "destroy", "--yes", "--skip-preview", "--non-interactive"],
      [process.execPath, toolMain, "repair", "--apply"],
    ]) {
      const { code, output, errors } = await project.tool(["emulator", "--", ...words]);
      expect(code).not.toBe(0);
      expect(output + errors).toContain("baseUrl and tokenUrl of the provider us");
    }
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

  test("rehearse --destroy runs in the emulators of both accounts, too", async () => {
    const before = await account.objects();
    const destroyed = JSON.parse((await project.tool(["rehearse", "--destroy", "--json"])).output);
    expect(destroyed.outcome.passes).toBe(true);
    expect(
      destroyed.outcome.steps
        .map(({ operation, profile = "" }: { operation: string; profile?: string }) =>
          [operation, profile].join(" "),
        )
        .sort(),
    ).toEqual(["delete ", "delete provider us", "delete provider us"]);
    expect(await account.objects()).toEqual(before);
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
    const deleted = await project.tool(["orphans", "--delete", "--json"], {
      CONVERSATION_BASE_URL: "",
    });
    expect(JSON.parse(deleted.output), deleted.errors).toMatchObject([
      { id: left?.id, deleted: true },
    ]);
    expect(await account.objects("channels")).toEqual([]);
    expect(await project.objects("channels")).toHaveLength(1);
  });
});

describe("in an account of its own", () => {
  beforeEach(open);
  afterEach(close);

  test("a rehearsed provider writes by its own settings, also in an account that has other ones", async () => {
    const own = { US: JSON.stringify({ ownershipMark: "none", share: 0.5 }), BOTH: "" };
    await project.succeed(up, own);
    const { outcome } = JSON.parse(
      (await project.tool(["rehearse", "--json"], { ...own, NAME: "New" })).output,
    );
    expect(outcome.steps).toMatchObject([{ kind: "Channel", properties: ["displayName"] }]);
  });

  test("repair finds what a killed run made in the account of a provider", async () => {
    await account.faults({ on: "POST /channels", kind: "drip" });
    const { child, ended } = project.start(up, { BOTH: "" });
    while ((await account.objects("channels")).length === 0) await pause(50);
    const providers = descendants(child.pid ?? 0, project.providerProcess);
    for (const pid of [child.pid ?? 0, ...providers]) process.kill(pid, "SIGKILL");
    await ended;
    const [made] = await account.objects("channels");
    const { output, errors } = await project.tool(["repair", "--apply", "--json"], { BOTH: "" });
    expect(JSON.parse(output).steps, errors).toContainEqual(
      expect.objectContaining({ action: "record", kind: "Channel", id: made?.id, done: true }),
    );
    await project.succeed(up, { BOTH: "" });
    expect(await account.objects("channels")).toMatchObject([{ id: made?.id }]);
  });
});
