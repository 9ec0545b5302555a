import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { backendFolder, lockIn, readBackend } from "../../cli/pulumi/locks.js";
import { pulumiPlace } from "../../cli/pulumi/project-files.js";
import {
  type PulumiPlace,
  queryPulumi,
  quietEnvironment,
} from "../../cli/pulumi/pulumi-queries.js";
import { stackExportIn } from "../../cli/pulumi/stack-documents.js";
import {
  exportState,
  pulumiOfThisRun,
  type StateScope,
  stackStateOf,
  statesAround,
  statesOf,
  statesOfThisRun,
} from "../../cli/pulumi/stack-states.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";
import { ownershipOf, type StateResource, stateText } from "./stack-documents.js";

const stateOf = (resources: readonly StateResource[], pending: readonly StateResource[] = []) => {
  const document = stackExportIn(stateText("prod", resources, pending));
  if (!document) throw new Error("no state");
  return statesOf(stackStateOf(document, true, "prod"), [], true);
};

const readStates = async (place: PulumiPlace, scope: StateScope) => {
  const read = await exportState(place);
  return "document" in read ? statesAround(read.document, place, scope) : undefined;
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

test("holders are named by kind and id; what is only looked up holds nothing", () => {
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
  expect(states.resourceOf("Channel", owner, false)).toMatchObject({ id: "3" });
  expect(states.holdersOf("Channel", "2")).toHaveLength(1);
  const renamed = stateOf([{ kind: "Channel", name: "b", id: "1", owner: "a" }]);
  expect(renamed.resourceOf("Channel", owner, false)).toBeUndefined();
  expect(renamed.resourceOf("Channel", `${ownershipOf("prod")}/b`, false)).toMatchObject({
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
  expect(stackExportIn(text)).toBeUndefined();
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

test("folder and stack of Pulumi's variables are those of a command, and the selected stack is read, too", async () => {
  const { place } = fakeCli({
    prod: stateText("prod", [{ kind: "Channel", name: "a", id: "1" }]),
    dev: stateText("dev", [{ kind: "Channel", name: "a", id: "2" }]),
  });
  const PATH = place.folder;
  const env = { PATH, PULUMI_OPTION_CWD: "..", PULUMI_OPTION_STACK: "dev" };
  const found = pulumiPlace(join(place.folder, "sub"), env);
  expect(found).toMatchObject({ folder: place.folder, stack: "dev" });
  const states = found && (await readStates({ ...found, env: place.env }, "all"));
  expect(states?.holdings.map(({ id, own }) => [id, own])).toEqual([
    ["2", true],
    ["1", false],
  ]);
  expect(pulumiPlace(place.folder, env, "prod")).toMatchObject({ stack: "prod" });
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

test("why a state cannot be read is reported in Pulumi's words", async () => {
  const { place } = fakeCli({ prod: "" });
  const missing = { ...place, command: join(place.folder, "none") };
  expect(await exportState({ ...place, stack: "nowhere" })).toEqual({
    reason: "no stack named that",
  });
  expect(await exportState(missing)).toEqual({ reason: "pulumi is not on PATH" });
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
  expect(await queryPulumi(place, ["stack", "export"])).toEqual({ text: "fine" });
});

test("what makes the CLI log, trace, or show more is not handed on", () => {
  const env = quietEnvironment({
    PATH: "/bin",
    PULUMI_DEBUG_GRPC: "/tmp/all.json",
    PULUMI_OPTION_SHOW_SECRETS: "true",
    PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4317",
  });
  expect(env).toMatchObject({ PATH: "/bin", PULUMI_SKIP_UPDATE_CHECK: "true" });
  expect(Object.keys(env)).not.toContain("PULUMI_DEBUG_GRPC");
  expect(Object.keys(env)).not.toContain("PULUMI_OPTION_SHOW_SECRETS");
  expect(Object.keys(env)).not.toContain("PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT");
});

test("a run's states are read with the CLI on PATH, in the folder of the project", () => {
  const project = temporaryFolder();
  writeFileSync(join(project, "Pulumi.yaml"), "name: shop");
  mkdirSync(join(project, "sub"));
  vi.spyOn(process, "cwd").mockReturnValue(join(project, "sub"));
  vi.stubEnv("PULUMI_OPTION_CWD", "elsewhere");
  vi.stubEnv("PULUMI_OPTION_STACK", "dev");
  const { command, folder, env } = pulumiOfThisRun();
  expect({ command, folder }).toEqual({ command: "pulumi", folder: project });
  expect(env.PULUMI_OPTION_CWD).toBeUndefined();
  expect(env).toMatchObject({ PULUMI_OPTION_STACK: "dev", PATH: process.env.PATH });
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("within a run only the state with the Ownership of the owner counts, whatever the stack is called", async () => {
  const { place } = fakeCli({
    selected: stateText("selected", [{ kind: "Channel", name: "a", id: "1" }]),
    prod: stateText("prod", [{ kind: "Channel", name: "a", id: "2" }]),
  });
  const states = await statesOfThisRun(`${ownershipOf("prod")}/a`, "own", place);
  expect(states?.resourceOf("Channel", `${ownershipOf("prod")}/a`, false)).toMatchObject({
    id: "2",
    stack: "prod",
  });
  expect(await statesOfThisRun("shop/prod/ffff/a", "all", place)).toBeUndefined();
  // The name in the owner is an old one: the stack was renamed, and is the selected one.
  const before = stateText("selected", [{ kind: "Channel", name: "a", id: "3" }]);
  const renamed = fakeCli({ selected: before.replaceAll("shop/selected/", "shop/before/") });
  const owner = "shop/before/0123456789abcdef/a";
  expect(
    (await statesOfThisRun(owner, "all", renamed.place))?.resourceOf("Channel", owner, false)?.id,
  ).toBe("3");
});

test("within a run the stack may belong to another organization, and be selected nowhere", async () => {
  const document = stateText("prod", [{ kind: "Channel", name: "a", id: "4" }]);
  const { place } = fakeCli({ selected: stateText("selected", []), "acme/shop/prod": document });
  const owner = `${ownershipOf("prod")}/a`;
  expect(
    (await statesOfThisRun(owner, "own", place))?.resourceOf("Channel", owner, false)?.id,
  ).toBe("4");
});

test("with the plugin, what was begun under a stack's earlier name is its own", () => {
  const urn = (token: string, name: string) => `urn:pulumi:renamed::shop::${token}::${name}`;
  const provider = `${urn("pulumi:providers:conversation", "default")}::1`;
  const type = "conversation:index:Channel";
  const inputs = { owner: `${ownershipOf("prod")}/web` };
  const resource = { urn: urn(type, "web"), type, provider, inputs };
  const deployment = { resources: [], pending_operations: [{ type: "creating", resource }] };
  const document = stackExportIn(JSON.stringify({ version: 3, deployment }));
  if (!document) throw new Error("no state");
  expect(stackStateOf(document, true).pluginOwnerships).toEqual([ownershipOf("prod")]);
});

/** A CLI that is logged in to a backend. */
const placeIn = (url: string, stacks: unknown = [], stack?: string) => {
  const folder = temporaryFolder();
  const command = shellScript(
    join(folder, "pulumi"),
    `case "$1" in whoami) echo '{"user":"me","url":"${url}"}';; *) echo '${JSON.stringify(stacks)}';; esac`,
  );
  return { command, folder, env: { PATH: process.env.PATH }, ...(stack ? { stack } : {}) };
};

const reader = (...cli: Parameters<typeof placeIn>) => {
  const place = placeIn(...cli);
  return async () => lockIn(await readBackend(place), place, "shop", "prod");
};

const backend = (): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".pulumi", "stacks", "shop"), { recursive: true });
  return folder;
};

const lock = (folder: string, ...path: string[]): void => {
  const place = join(folder, ".pulumi", "locks", "organization", ...path);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "1.json"), "");
};

test("the lock of a file backend is looked at anew each time; others' locks do not count", async () => {
  const folder = backend();
  const look = reader(`file://${folder}`);
  lock(folder, "shop", "dev");
  lock(folder, "site", "prod");
  expect(await look()).toEqual({ state: "free" });
  lock(folder, "shop", "prod");
  expect(await look()).toEqual({ state: "locked" });
});

test("what cannot be seen is unknown, with the reason", async () => {
  expect(await reader("https://api.pulumi.com", [])()).toMatchObject({ state: "unknown" });
  const nowhere = join(temporaryFolder(), "none");
  expect(await reader(`file://${nowhere}`)()).toEqual({
    state: "unknown",
    why: `${nowhere} contains no Pulumi state`,
  });
});

test.each([
  ["file:///var/states", "/var/states"],
  ["file:///var/states?no_tmp_dir=true", "/var/states"],
  ["file://~", "/home/me"],
  ["file://~/states", "/home/me/states"],
  ["file://./states", "/project/states"],
])("the folder of %s", (url, folder) => {
  expect(backendFolder(url, "/project", "/home/me")).toBe(folder);
});

test("the home folder is the one in the system's record, as in Pulumi, and not HOME", () => {
  vi.stubEnv("HOME", "/nowhere");
  const found = backendFolder("file://~", "/project");
  vi.unstubAllEnvs();
  expect(found).toBe(realpathSync(userInfo().homedir));
});

test("a file backend has one name, whatever leads to its folder", async () => {
  const folder = backend();
  const link = join(temporaryFolder(), "link");
  symlinkSync(folder, link);
  const named = async (url: string) => readBackend(placeIn(url));
  expect(await named(`file://${link}?no_tmp_dir=true`)).toEqual(await named(`file://${folder}`));
});
