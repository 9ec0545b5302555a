import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { type CliProject, cliProject } from "../support/cli-project.js";
import { guideCommands } from "../support/guide-commands.js";
import { filesBelow, leakingFiles } from "../support/left-behind.js";
import { pageShell } from "../support/page-shell.js";
import { goneWith, markVariable } from "../support/processes.js";
import { listKeys, scopes } from "../support/specification.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

/*
 * Rehearsals on a service that shares no code with the emulator, each followed by the real run: what it foretells is
 * what comes.
 */

/** DESCRIBE is a description, REFER a stack with another one, MORE adds a channel, WITHOUT takes away a resource, SEEN tells what it sees. */
const program = `
const c = require("pulumi-conversation");
const pulumi = require("@pulumi/pulumi");
const { DESCRIBE, WITHOUT = "", MORE, REFER, ONLY_OUTPUT, FOREIGN, SEEN } = process.env;
exports.word = pulumi.secret("canary-word");
const seen = [new pulumi.Config("shop").get("line"), process.env.PULUMI_CONVERSATION_REHEARSAL];
if (SEEN) require("node:fs").writeFileSync(SEEN, seen.join(" "));
if (ONLY_OUTPUT) return;
const description = REFER ? new pulumi.StackReference(REFER).getOutput("word") : DESCRIBE;
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "canary-password" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
const app = new c.ClientApplication("app", { roles: [{ ...role, authentication: auth }] });
if (WITHOUT !== "bot") new c.Participant("bot", { type: "custom_bot", application: app });
if (WITHOUT !== "channel") new c.Channel("web", { type: "custom.web", displayName: "web", icon: "aVZC" });
if (MORE) new c.Channel("more", { type: "custom.more", displayName: "more", icon: "aVZC" });
class Elsewhere extends pulumi.dynamic.Resource {
  constructor(file) {
    const create = async (inputs) => {
      require("node:fs").writeFileSync(inputs.file, "made");
      return { id: "made", outs: inputs };
    };
    super({ create }, "elsewhere", { file }, { dependsOn: app });
  }
}
if (FOREIGN) new Elsewhere(FOREIGN);
`;

let strict: StrictService;
let project: CliProject;

beforeAll(async () => {
  strict = await startStrictService();
  const plan = { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "20" };
  project = await cliProject(program, { ...strict.environment, ...plan });
  await project.succeed(["config", "set", "--secret", "shop:line", "canary-config"]);
  await project.succeed(["up", "--yes", "--skip-preview"], { DESCRIBE: "first" });
  await project.succeed(["stack", "init", "infra", "--no-select"]);
  await project.succeed(["up", "--yes", "--skip-preview", "--stack", "infra"], {
    ONLY_OUTPUT: "1",
  });
});

afterAll(async () => {
  project?.remove();
  await strict?.close();
});

/** The files of the project, which a rehearsal must leave alone. */
const ownFiles = (): readonly (readonly [string, string])[] =>
  [...filesBelow(project.folder)]
    .filter(([name]) => !/^(home|tmp-|node_modules)/.test(name))
    .map(([name, bytes]) => [name, String(bytes)]);

const writes = () => strict.calls.filter(({ method }) => method !== "GET");

const ids = (): readonly string[] =>
  Object.keys(listKeys).flatMap((collection) =>
    strict.objects(collection).map(({ id }) => String(id)),
  );

/** Calls without the ids of what is new, each collection in its order. */
const comparable = (calls: readonly string[], known: readonly string[]): readonly string[] =>
  calls
    .map((call) => call.replace(/\?.*/, ""))
    .map((call) => call.replace(/[0-9a-f-]{36}$/, (id) => (known.includes(id) ? id : "new")))
    .toSorted();

test("the guide's line, by a client that may only read, foretells the real run call by call; nothing is written or shown", async () => {
  const [line = ""] = guideCommands("rehearse");
  const foreign = join(project.folder, "tmp-foreign");
  const change = { REFER: "organization/shop/infra", WITHOUT: "bot", MORE: "1", FOREIGN: foreign };
  const before = { files: ownFiles(), writes: writes().length };
  strict.scopes = [scopes.R];
  const SEEN = join(project.folder, "tmp-seen");
  const shell = pageShell(project);
  const { code, output } = await shell(`${line} --json 2> tmp-errors`, { ...change, SEEN });
  strict.scopes = undefined;
  expect(code, output).toBe(0);
  expect({ files: ownFiles(), writes: writes().length }).toEqual(before);
  expect(existsSync(foreign)).toBe(false);
  // The program sees the secrets of its configuration, and that this is a rehearsal.
  expect(readFileSync(SEEN, "utf8")).toBe("canary-config true");
  expect(output).not.toContain("canary");
  const { outcome, notes }: Rehearsal = JSON.parse(output);
  expect(outcome).toMatchObject({ passes: true, refusals: [], objects: 4 });
  expect(outcome.totalSeconds).toBeGreaterThan(0);
  expect(outcome.steps.map(({ operation, kind, name }) => [operation, kind, name]).sort()).toEqual([
    ["create", "Channel", "more"],
    ["delete", "Participant", "bot"],
    ["update", "Authentication", "auth"],
  ]);
  expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  expect(notes.join("\n")).toMatch(/assumes that another client deploys/);
  expect(notes.join("\n")).toMatch(/^The copy contains only the authentications in the stack/m);

  const [known, from] = [ids(), strict.calls.length];
  await project.succeed(["up", "--yes", "--skip-preview", "--parallel", "1"], change);
  const made = strict.calls.slice(from).map(({ method, path }) => `${method} ${path}`);
  expect(comparable(outcome.calls, known)).toEqual(comparable(made, known));
  expect(ids()).toHaveLength(outcome.objects);
});

test("what is in the way of a deletion is named, and the real run is refused the same", async () => {
  const [app] = strict.objects("clientapplications");
  const id = "00000000-0000-4000-8000-000000000001";
  const times = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };
  strict.plant("orchestrations", {
    ...{ id, ...times, name: "night 🌙", active: true },
    applications: { agentConfiguration: { agents: [{ id: app?.id }] } },
  });
  const { code, output } = await project.tool(["rehearse", "--destroy", "--json"]);
  expect(code).toBe(3);
  const { outcome }: Rehearsal = JSON.parse(output);
  expect(outcome.passes).toBe(false);
  const named = { kind: "ClientApplication", name: "app", operation: "delete" };
  expect(outcome.refusals).toMatchObject([{ ...named, reason: expect.stringContaining(id) }]);
  expect(outcome.undeclared).toContainEqual(
    expect.objectContaining({ kind: "Orchestration", name: "night 🌙", id }),
  );
  expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  const real = await project.pulumi(["destroy", "--yes", "--skip-preview"]);
  expect(real.code).not.toBe(0);
  expect(real.output).toContain(id);
  expect(strict.objects("clientapplications")).toHaveLength(1);
});

test("a rehearsal that is killed leaves no secret that anybody can read", async () => {
  // Where no other rehearsal removes what a killed one has left, nor leaves anything.
  const TMPDIR = join(project.folder, "tmp-killed");
  mkdirSync(TMPDIR);
  const mark = randomUUID();
  const child = project.startTool(["rehearse"], { TMPDIR, [markVariable]: mark });
  const exited = once(child, "exit");
  const copies = () =>
    readdirSync(TMPDIR)
      .filter((name) => name.startsWith("pulumi-conversation-rehearsal-"))
      .map((name) => join(TMPDIR, name));
  const files = () => copies().flatMap((copy) => [...filesBelow(copy)]);
  const hasSecrets = (): boolean =>
    files().some(([name, text]) => name.endsWith("/shop/prod.json") && text.includes("ciphertext"));
  await expect.poll(hasSecrets).toBe(true);
  await expect.poll(() => files().some(([name]) => name.includes("/locks/"))).toBe(true);
  child.kill("SIGKILL");
  await exited;
  // Pulumi, which is ended a moment after it, may be about to write.
  await goneWith(mark);
  const [folder = "none"] = copies();
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(filesBelow(folder).size).toBeGreaterThan(2);
  expect(leakingFiles(folder, ["canary-password", "canary-word", "canary-config"])).toEqual([]);
});
