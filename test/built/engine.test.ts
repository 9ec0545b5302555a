import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doors } from "../support/door.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { listKeys } from "../support/specification.js";

/** One resource of each kind; DESCRIBE gives all of them another description, OPTIONS other engine options. */
const program = `
const c = require("pulumi-conversation");
const description = process.env.DESCRIBE;
const opts = JSON.parse(process.env.OPTIONS ?? "{}");
const without = process.env.WITHOUT ?? "";
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "canary-password" } }, opts);
const callback = { version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication: auth };
const app = new c.ClientApplication("app", { description, roles: [{ ...callback, name: "custom_bot" }, { ...callback, name: "customer" }] }, opts);
const bot = new c.Participant("bot", { description, type: "custom_bot", application: app }, opts);
const channel = new c.Channel("web", { description, type: "custom.web", displayName: "Web", icon: "aVZC" }, opts);
const flow = new c.Orchestration("flow", { description, applications: { customerConfiguration: { customer: app }, botConfiguration: { bots: [{ application: app, participant: bot }] } } }, opts);
if (without !== "account") new c.Account("shop", { description, address: "shop", channel, chatConfigurations: { orchestration: flow, entryPoint: "1007" } }, opts);
exports.channelType = channel.type;
exports.lookedUp = channel.id.apply((id) => id).apply(() => "ok");
`;

describe.each(doors)("%s", (door) => {
  let project: EmulatedProject;

  beforeAll(async () => {
    project = await emulatedProject(program, { switches: { secrets: "echo" } }, {}, door);
  });

  afterAll(() => project?.close());

  test("preview of a new stack knows every value it can and makes no call", async () => {
    const output = await project.succeed(["preview", "--diff"]);
    expect(output).toContain("custom.web");
    expect(output).not.toContain("canary-password");
    expect(await project.control("GET", "/stats")).toEqual({
      calls: {},
      monthly: {},
      tokensIssued: 0,
    });
  });

  test("up, then up with its preview, without changes", async () => {
    await project.succeed(["up", "--yes", "--skip-preview"]);
    expect(await project.objects()).toHaveLength(6);
    const calls = JSON.stringify(await project.control("GET", "/stats"));
    // Its preview first.
    await project.succeed(["up", "--yes", "--expect-no-changes"]);
    expect(JSON.stringify(await project.control("GET", "/stats"))).toBe(calls);
    expect(project.state()).not.toContain("canary-password");
  });

  test("drift in every kind is shown by refresh and repaired by up", async () => {
    for (const [collection, list] of Object.entries(await project.collections())) {
      for (const { id } of list) {
        const path = `/${collection}/${id}`;
        const object = await project.byHand("GET", path);
        await project.byHand("PUT", path, { ...object, description: "by hand", active: false });
      }
    }
    const refreshed = await project.succeed(["refresh", "--yes", "--skip-preview"]);
    expect(refreshed).toMatch(/~ 6 (updated|changed|to update)/);
    await project.succeed(["up", "--yes", "--skip-preview"]);
    for (const object of await project.objects()) {
      expect(object.active).toBe(true);
      expect(object.description).toMatch(/^by hand \[pulumi: shop\/prod /);
    }
  });

  test("taint, --replace, deleteBeforeReplace and replaceOnChanges keep every object; then a change of every kind is one PUT each", async () => {
    const before = (await project.objects()).map(({ id }) => id);
    const urn = `urn:pulumi:prod::shop::${project.token("Channel")}::web`;
    await project.succeed(["state", "taint", urn, "--yes"]);
    const other = urn.replace("Channel::web", "Participant::bot");
    await project.succeed(["up", "--yes", "--skip-preview", "--replace", other]);
    const forced = JSON.stringify({ deleteBeforeReplace: true, replaceOnChanges: ["*"] });
    await project.succeed(["up", "--yes", "--skip-preview"], {
      OPTIONS: forced,
      DESCRIBE: "replaced",
    });
    expect((await project.objects()).map(({ id }) => id)).toEqual(before);
    const done = (await project.writes()).length;
    await project.succeed(["up", "--yes", "--skip-preview"], { DESCRIBE: "changed" });
    expect((await project.objects()).map(({ id }) => id)).toEqual(before);
    expect((await project.writes()).slice(done).sort()).toEqual(
      Object.keys(listKeys)
        .map((name) => `PUT /${name}/{id}`)
        .sort(),
    );
  });

  test("a resource that leaves the program leaves the service; what was deleted behind us is made again", async () => {
    await project.succeed(["up", "--yes", "--skip-preview"], { WITHOUT: "account" });
    const { accounts, orchestrations } = await project.collections();
    expect(accounts).toEqual([]);
    await project.byHand("DELETE", `/orchestrations/${orchestrations?.[0]?.id}`);
    await project.succeed(["up", "--yes", "--skip-preview", "--refresh"]);
    expect(await project.objects()).toHaveLength(6);
  });

  test("destroy takes everything down in a legal order", async () => {
    const done = (await project.writes()).length;
    await project.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(await project.objects()).toEqual([]);
    const order = (await project.writes())
      .slice(done)
      .map((call) => call.slice("DELETE /".length, -"/{id}".length));
    expect(order.slice(0, 4)).toEqual([
      "accounts",
      "orchestrations",
      "participants",
      "clientapplications",
    ]);
  });
});
