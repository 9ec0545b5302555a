import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type ProcessFacts,
  pulumiOfThisRun,
  queryPulumi,
  quietEnvironment,
  stackAmong,
} from "../../provider/pulumi-cli/pulumi-queries.js";
import {
  readStates,
  stateIn,
  statesOf,
  statesOfThisRun,
} from "../../provider/pulumi-cli/stack-states.js";
import { ownershipOf, type StateResource, stateText } from "./stack-documents.js";
import { shellScript, temporaryFolder } from "./temporary-folder.js";

const stateOf = (resources: readonly StateResource[], pending: readonly StateResource[] = []) => {
  const state = stateIn(stateText("prod", resources, pending), true, "prod");
  if (!state) throw new Error("no state");
  return statesOf(state, [], true);
};

/** A CLI that knows these stacks, the first of which is selected, and writes down what it is asked. */
const fakeCli = (
  stacks: Readonly<Record<string, string>>,
  listed: readonly string[] = Object.keys(stacks),
) => {
  const folder = temporaryFolder();
  const list = listed.map((name, at) => ({ name, current: at === 0 }));
  writeFileSync(join(folder, "list.json"), JSON.stringify(list));
  const cases = Object.entries(stacks).map(([name, text], at) => {
    writeFileSync(join(folder, `${at}.json`), text);
    return `*"--stack ${name}") cat ${folder}/${at}.json;;`;
  });
  const command = shellScript(
    join(folder, "pulumi"),
    `echo "$*" >> ${folder}/asked`,
    `case "$*" in "stack ls"*) cat ${folder}/list.json;;`,
    ...cases.map((line) => line.replace('")', ' --non-interactive")')),
    `"stack export --non-interactive") cat ${folder}/0.json;;`,
    '*) echo "error: no stack named that" >&2; exit 6;; esac',
  );
  const place = { command, folder, env: { PATH: process.env.PATH } };
  return { place, asked: () => readFileSync(join(folder, "asked"), "utf8").trim().split("\n") };
};

test("holders are told by kind and id; what is only looked up holds nothing", () => {
  const states = stateOf([
    { kind: "Channel", name: "a", id: "1", serial: "0a" },
    { kind: "Participant", name: "p", id: "1" },
    { kind: "Channel", name: "seen", id: "2", external: true },
  ]);
  expect(states.holdersOf("Channel", "1")).toEqual([
    {
      stack: "prod",
      urn: "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Channel::a",
      kind: "Channel",
      id: "1",
      owner: `${ownershipOf("prod")}/a`,
      serial: "0a",
      own: true,
    },
  ]);
  expect(states.holdersOf("Channel", "2")).toEqual([]);
  expect(states.readersOf("Channel", "2")).toMatchObject([{ id: "2" }]);
  expect(states.own).toMatchObject({
    project: "shop",
    name: "prod",
    ownership: ownershipOf("prod"),
  });
});

test("a resource is found by what it is called now, not by what it was called when it was made", () => {
  const states = stateOf([
    { kind: "Channel", name: "b", id: "1", owner: "b", written: "a" },
    { kind: "Channel", name: "a", id: "2", delete: true },
    { kind: "Channel", name: "a", id: "3" },
  ]);
  const owner = `${ownershipOf("prod")}/a`;
  expect(states.resourceOf(owner)).toMatchObject({ id: "3" });
  expect(states.holdersOf("Channel", "2")).toHaveLength(1);
  const renamed = stateOf([{ kind: "Channel", name: "b", id: "1", owner: "a" }]);
  expect(renamed.resourceOf(owner)).toBeUndefined();
  expect(renamed.resourceOf(`${ownershipOf("prod")}/b`)).toMatchObject({
    id: "1",
    writtenOwner: owner,
  });
});

test("creations that were never reported on are pending, with the owner they were to have", () => {
  const states = stateOf([], [{ kind: "Channel", name: "lost" }]);
  expect(states.pending).toMatchObject([
    {
      kind: "Channel",
      owner: `${ownershipOf("prod")}/lost`,
      urn: expect.stringMatching(/::lost$/),
    },
  ]);
});

test.each(["", "no JSON", "[]", '{"deployment":null}'])("%j is no state", (text) => {
  expect(stateIn(text, true)).toBeUndefined();
});

test("all stacks of the backend are read, each once, and the own one is not taken for another", async () => {
  const { place, asked } = fakeCli({
    prod: stateText("prod", [{ kind: "Channel", name: "a", id: "1" }]),
    "organization/site/prod": stateText("prod", [
      { kind: "Channel", name: "a", id: "2" },
    ]).replaceAll("::shop::", "::site::"),
  });
  for (const stack of [undefined, "prod"]) {
    const states = await readStates({ ...place, ...(stack ? { stack } : {}) }, "all");
    expect(states?.holdings.map(({ id, own }) => [id, own])).toEqual([
      ["1", true],
      ["2", false],
    ]);
    expect(states?.complete).toBe(true);
  }
  expect(asked()).toHaveLength(6);
});

test("a stack that is given by its full name is found in the list under its short one", async () => {
  const text = stateText("prod", [{ kind: "Channel", name: "a", id: "1" }]);
  const { place } = fakeCli({ prod: text, "organization/shop/prod": text }, ["prod"]);
  const states = await readStates({ ...place, stack: "organization/shop/prod" }, "all");
  expect(states?.holdings).toHaveLength(1);
});

test("a stack that cannot be read leaves the picture incomplete", async () => {
  const { place } = fakeCli({ prod: stateText("prod", []), dev: "torn" });
  expect(await readStates(place, "all")).toMatchObject({ complete: false, holdings: [] });
});

test("the own state alone takes one command, and is never complete", async () => {
  const { place, asked } = fakeCli({ prod: stateText("prod", []) });
  expect(await readStates(place, "own")).toMatchObject({ complete: false });
  expect(asked()).toEqual(["stack export --non-interactive"]);
});

test("why a state cannot be read is told in Pulumi's words", async () => {
  const reasons: string[] = [];
  const { place } = fakeCli({ prod: "" });
  const at = { ...place, stack: "nowhere" };
  expect(await readStates(at, "all", (reason) => reasons.push(reason))).toBeUndefined();
  const missing = { ...place, command: join(place.folder, "none") };
  expect(await readStates(missing, "own", (reason) => reasons.push(reason))).toBeUndefined();
  expect(reasons).toEqual(["no stack named that", "there is no pulumi on PATH"]);
});

test("a read that meets a write is repeated", async () => {
  const folder = temporaryFolder();
  const command = shellScript(
    join(folder, "pulumi"),
    `if [ -e ${folder}/again ]; then echo fine; exit 0; fi`,
    `touch ${folder}/again`,
    "echo 'error: failed to load checkpoint: EOF' >&2; exit 255",
  );
  const place = { command, folder, env: { PATH: process.env.PATH } };
  expect(await queryPulumi(place, ["stack", "export"])).toEqual({ text: "fine\n" });
});

test("what makes the CLI log or show more is not handed on", () => {
  const env = quietEnvironment({
    PATH: "/bin",
    PULUMI_DEBUG_GRPC: "/tmp/all.json",
    PULUMI_OPTION_SHOW_SECRETS: "true",
    PULUMI_OPTION_STACK: "dev",
  });
  expect(env).toMatchObject({
    PATH: "/bin",
    PULUMI_OPTION_STACK: "dev",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  });
  expect(Object.keys(env)).not.toContain("PULUMI_DEBUG_GRPC");
  expect(Object.keys(env)).not.toContain("PULUMI_OPTION_SHOW_SECRETS");
});

const facts = (exe: string, parent: number, more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  ...{ exe, parent, folder: "/project", args: [], env: { A: "1" } },
  ...more,
});

test("the CLI is found above the script that starts providers, with its folder and stack", () => {
  const processes = new Map([
    [process.ppid, facts("/usr/bin/dash", 7)],
    [7, facts("/opt/pulumi/bin/pulumi", 1, { args: ["pulumi", "up", "--stack", "acme/prod"] })],
  ]);
  expect(pulumiOfThisRun((pid) => processes.get(pid))).toEqual({
    ...{
      command: "/opt/pulumi/bin/pulumi",
      folder: "/project",
      env: { A: "1" },
      given: "acme/prod",
    },
  });
});

test("where no CLI is above, the one on PATH is asked in this folder", () => {
  const nobody = { command: "pulumi", folder: process.cwd(), env: process.env };
  expect(pulumiOfThisRun(() => undefined)).toEqual(nobody);
  // A circle would otherwise never end.
  expect(pulumiOfThisRun(() => facts("/bin/sh", 5))).toEqual(nobody);
});

test("a CLI that was replaced while it runs is looked up on PATH", () => {
  expect(pulumiOfThisRun(() => facts("/opt/pulumi (deleted)", 1)).command).toBe("pulumi");
});

test.each([
  [["pulumi", "up", "-s", "dev"], "dev"],
  [["pulumi", "up", "-sdev"], "dev"],
  [["pulumi", "--stack=dev", "up"], "dev"],
  [["pulumi", "up", "--show-secrets"], undefined],
])("the stack in %j: %s", (args, stack) => {
  expect(stackAmong(args)).toBe(stack);
});

test("within a run only the state with the Ownership of the owner counts, whatever the stack is called", async () => {
  const { place } = fakeCli({
    selected: stateText("selected", [{ kind: "Channel", name: "a", id: "1" }]),
    prod: stateText("prod", [{ kind: "Channel", name: "a", id: "2" }]),
  });
  const find = () => place;
  const states = await statesOfThisRun(`${ownershipOf("prod")}/a`, "own", find);
  expect(states?.resourceOf(`${ownershipOf("prod")}/a`)).toMatchObject({ id: "2", stack: "prod" });
  expect(await statesOfThisRun("shop/prod/ffff/a", "all", find)).toBeUndefined();
  // The name in the owner is an old one: the stack was renamed, and is the selected one.
  const before = stateText("selected", [{ kind: "Channel", name: "a", id: "3" }]);
  const renamed = fakeCli({ selected: before.replaceAll("shop/selected/", "shop/before/") });
  const owner = "shop/before/0123456789abcdef/a";
  expect((await statesOfThisRun(owner, "all", () => renamed.place))?.resourceOf(owner)?.id).toBe(
    "3",
  );
});
