import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAtLeast } from "../../cli/pulumi/pulumi-cli.js";
import { doors } from "../support/door.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { languageHosts } from "../support/language-hosts.js";
import { listKeys } from "../support/specification.js";

/**
 * One resource of each kind; DESCRIBE gives all of them another description, OPTIONS other engine options, IMPORT
 * each the ID that it imports. LOOK gives, by kind, the ID of the object to look up, and EXISTS all that may be none.
 */
const program = `
const c = require("pulumi-conversation");
const { runtime } = require("@pulumi/pulumi");
const given = (name) => JSON.parse(process.env[name] ?? "{}");
const description = process.env.DESCRIBE;
const imported = given("IMPORT");
const opts = (name) => ({ ...given("OPTIONS"), ...(imported[name] ? { import: imported[name] } : {}) });
exports.looks = Object.entries(given("LOOK")).map(([kind, id]) => c[kind].get("look-" + kind, id).created);
exports.exists = Object.entries(given("EXISTS")).map(([token, ids]) => ids.map((id) => runtime.existsResource(token, id, {}, {})));
const without = process.env.WITHOUT ?? "";
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "canary-password" } }, opts("auth"));
const callback = { version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication: auth };
const app = new c.ClientApplication("app", { description, roles: [{ ...callback, name: "custom_bot" }, { ...callback, name: "customer" }] }, opts("app"));
const bot = new c.Participant("bot", { description, type: "custom_bot", application: app }, opts("bot"));
const channel = new c.Channel("web", { description, type: "custom.web", displayName: "Web", icon: "aVZC" }, opts("web"));
const flow = new c.Orchestration("flow", { description, applications: { customerConfiguration: { customer: app }, botConfiguration: { bots: [{ application: app, participant: bot }] } } }, opts("flow"));
if (without !== "account") new c.Account("shop", { description, address: "shop", channel, chatConfigurations: { orchestration: flow, entryPoint: "1007" } }, opts("shop"));
exports.channelType = channel.type;
exports.lookedUp = channel.id.apply((id) => id).apply(() => "ok");
`;

const withoutPulumi = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };

describe.each(doors)("%s", (door) => {
  let project: EmulatedProject;
  /** What dynamic resources do, `strict-service.test.ts` shows on the independent service. */
  const testPlugin = door === "plugin" ? test : () => {};

  beforeAll(async () => {
    project = await emulatedProject(program, { switches: { secrets: "echo" } }, {}, door);
  });

  afterAll(() => project?.close());

  test("preview of a new stack knows every value it can and makes no call", async () => {
    const output = await project.succeed(["preview", "--diff"]);
    expect(output).toContain("custom.web");
    expect(output).not.toContain("canary-password");
    expect(await project.control("GET", "/stats")).toEqual({ calls: {}, tokensIssued: 0 });
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

  const held = () =>
    project.held().resources.flatMap(({ type, urn, id = "" }) => {
      const [kind = "", name = ""] = [type.split(":").at(-1), urn.split("::").at(-1)];
      return project.token(kind) === type && kind !== "Ownership" ? [{ type, kind, name, id }] : [];
    });

  testPlugin(
    "get finds an object of every kind; exists says of every kind whether there is one",
    async (context) => {
      const host = languageHosts();
      if ("reason" in host) return context.skip(host.reason);
      const objects = held();
      const LOOK = JSON.stringify(Object.fromEntries(objects.map(({ kind, id }) => [kind, id])));
      const none = ["7b1d1bb3-0d4e-4d53-8d7e-3f6f0c9a2a11", "../channels"];
      const knowsExists = isAtLeast(await project.succeed(["version"]), "3.274.0");
      const asked = knowsExists ? objects.map(({ type, id }) => [type, [id, ...none]]) : [];
      const EXISTS = JSON.stringify(Object.fromEntries(asked));
      const looking = { ...host.environment, LOOK, EXISTS };
      await project.succeed(["up", "--yes", "--skip-preview"], looking);
      const { looks, exists } = JSON.parse(await project.succeed(["stack", "output", "--json"]));
      expect(looks.sort()).toEqual((await project.objects()).map(({ created }) => created).sort());
      expect(exists).toEqual(asked.map(() => [true, false, false]));
      const LOOK_AT_NONE = JSON.stringify({ Channel: none[0] });
      const { code, output } = await project.pulumi(["preview"], { LOOK: LOOK_AT_NONE });
      expect([code === 0, output]).toEqual([false, expect.stringMatching(/no channel|not exist/)]);
      await project.succeed(["up", "--yes", "--skip-preview"]);
      expect(await project.objects()).toHaveLength(6);
    },
  );

  testPlugin("import takes over every kind, by its code and by the option", async (context) => {
    const host = languageHosts();
    if ("reason" in host) return context.skip(host.reason);
    const resources = held().map(({ type, name, id }) => ({ type, name, id }));
    const before = await project.writes();
    const forget = () =>
      project.edit((all) =>
        all.filter(({ type }) => !resources.some((each) => each.type === type)),
      );
    await forget();
    writeFileSync(join(project.folder, "six.json"), JSON.stringify({ resources }));
    const options = ["--yes", "--skip-preview", "--protect=false", "--out", "imported.ts"];
    await project.succeed(["import", "--file", "six.json", ...options], host.environment);
    const code = readFileSync(join(project.folder, "imported.ts"), "utf8");
    const declared = [...code.matchAll(/new conversation\.(\w+)\("(\w+)"/g)];
    expect(declared.map(([, kind, name]) => [project.token(kind ?? ""), name]).sort()).toEqual(
      resources.map(({ type, name }) => [type, name]).sort(),
    );
    // Two objects have defaults of the service that the program does not declare.
    await project.succeed(["up", "--yes", "--skip-preview"]);
    await forget();
    const IMPORT = JSON.stringify(Object.fromEntries(resources.map(({ name, id }) => [name, id])));
    await project.succeed(["up", "--yes", "--skip-preview"], { IMPORT });
    expect(held()).toHaveLength(6);
    await project.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    const written = (await project.writes()).slice(before.length);
    expect(written.filter((call) => !/^PUT .(orchestrations|accounts)/.test(call))).toEqual([]);
  });

  testPlugin("drift in every kind is shown by refresh and repaired by up", async () => {
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

  test("taint and --replace of everything, deleteBeforeReplace and replaceOnChanges keep every object; then a change of every kind is one PUT each", async () => {
    const before = (await project.objects()).map(({ id }) => id);
    // The ownership among them.
    const urns = project
      .held()
      .resources.flatMap(({ type, urn }) => (type.startsWith("pulumi:") ? [] : [urn]));
    await project.succeed(["state", "taint", ...urns, "--yes"]);
    await project.succeed(["up", "--yes", "--skip-preview"]);
    expect((await project.objects()).map(({ id }) => id)).toEqual(before);
    const forced = JSON.stringify({ deleteBeforeReplace: true, replaceOnChanges: ["*"] });
    // With both, the provider's replacement would hide that the objects are still needed.
    await project.succeed(["up", "--yes", "--skip-preview", "--replace", "**"]);
    await project.succeed(["up", "--yes", "--skip-preview"], {
      ...{ OPTIONS: forced, DESCRIBE: "replaced" },
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

  testPlugin(
    "a resource that leaves the program leaves the service; what was deleted behind us is made again",
    async () => {
      await project.succeed(["up", "--yes", "--skip-preview"], { WITHOUT: "account" });
      const { accounts, orchestrations } = await project.collections();
      expect(accounts).toEqual([]);
      await project.byHand("DELETE", `/orchestrations/${orchestrations?.[0]?.id}`);
      await project.succeed(["up", "--yes", "--skip-preview", "--refresh"]);
      expect(await project.objects()).toHaveLength(6);
    },
  );

  const testDynamic = door === "dynamic" ? test : () => {};
  testDynamic("without pulumi on PATH a replacement of everything deletes nothing", async () => {
    const before = (await project.objects()).map(({ id }) => id);
    const all = ["up", "--yes", "--skip-preview", "--replace", "**"];
    expect((await project.pulumi(all, withoutPulumi)).code).not.toBe(0);
    await project.succeed(["up", "--yes", "--skip-preview"]);
    expect((await project.objects()).map(({ id }) => id)).toEqual(before);
  });

  test("destroy takes everything down in a legal order", async () => {
    const done = (await project.writes()).length;
    // Dynamic resources tell a destroy from a replacement without it.
    const environment = door === "plugin" ? {} : withoutPulumi;
    await project.succeed(["destroy", "--yes", "--skip-preview"], environment);
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
