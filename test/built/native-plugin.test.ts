import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  resourcesInState,
  type StateResource,
  stackExportIn,
} from "../../cli/pulumi/stack-documents.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { deliverPlugin, pluginSettings } from "../support/plugin-delivery.js";

/**
 * The way out of dynamic providers: the same life cycle behind a native plugin takes over what
 * dynamic resources made, by aliases alone.
 */
const dist = join(__dirname, "..", "..", "dist", "test", "support");
const native = { PLUGIN: "native" };

let project: EmulatedProject;

interface Write {
  readonly method: string;
  readonly path: string;
}

const writes = async (): Promise<readonly Write[]> =>
  ((await project.control("GET", "/log")) as Write[]).filter(({ method }) => method !== "GET");

const run = async (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const output = await project.succeed(args, environment);
  expect(output).not.toContain("canary");
  return output;
};

/** Our resources in the state, secrets in plain text, by kind and logical name, which stay when the type changes. */
const byName = async (): Promise<ReadonlyMap<string, StateResource>> => {
  const text = await project.succeed(["stack", "export", "--show-secrets"]);
  const ours = resourcesInState(stackExportIn(text)).filter(
    ({ id, type }) => id && type.includes("conversation:"),
  );
  return new Map(
    ours.map((each) => [`${each.type.split(":").at(-1)} ${each.urn.split("::").at(-1)}`, each]),
  );
};

const withoutPointer = ({ __provider, ...rest }: JsonObject = {}): JsonObject => rest;

const expectSecretsEncrypted = async (): Promise<void> => {
  expect(project.state()).not.toContain("canary");
  expect((await project.pulumi(["stack", "export", "--show-secrets"])).output).toContain("canary");
};

let before: ReadonlyMap<string, StateResource>;
let serviceBefore: Awaited<ReturnType<EmulatedProject["collections"]>>;

beforeAll(async () => {
  const program = `require(${JSON.stringify(join(dist, "example-account.js"))});`;
  project = await emulatedProject(program);
  const settings = pluginSettings(deliverPlugin(project.folder));
  writeFileSync(join(project.folder, "Pulumi.yaml"), JSON.stringify(settings));
  await run(["up", "--yes", "--skip-preview"], {});
  before = await byName();
  serviceBefore = await project.collections();
});

afterAll(() => project?.close());

test("the dynamic resources hold every secret that there is, each encrypted", async () => {
  expect(before.size).toBe(resources.length + 2);
  await expectSecretsEncrypted();
});

test("a preview with the plugin shows no change of any sort", async () => {
  const output = await run(["preview", "--json"], native);
  const { changeSummary } = JSON.parse(output) as { changeSummary: JsonObject };
  // The stack and the component are resources as well; the plugin needs no Ownership.
  expect(changeSummary).toEqual({ same: before.size + 1, delete: 1 });
});

test("up moves every resource to the plugin: same ids, no call, no pointer, secrets encrypted", async () => {
  const calls = JSON.stringify(await project.control("GET", "/stats"));
  await run(["up", "--yes", "--skip-preview"], native);
  expect(JSON.stringify(await project.control("GET", "/stats"))).toBe(calls);
  expect(await project.collections()).toEqual(serviceBefore);
  const after = await byName();
  const moved = [...before.keys()].filter((name) => !name.startsWith("Ownership "));
  expect([...after.keys()].sort()).toEqual(moved.sort());
  for (const [name, { id, type, inputs, outputs }] of after) {
    const old = before.get(name);
    expect(type).toMatch(/^conversation:index:/);
    expect(id).toBe(old?.id);
    expect(inputs).toEqual(withoutPointer(old?.inputs));
    expect(withoutPointer(outputs)).toEqual(withoutPointer(old?.outputs));
  }
  await expectSecretsEncrypted();
});

test("refresh finds what dynamic resources made unchanged", async () => {
  await run(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], native);
});

const described = {
  DESCRIBED: resources.map(({ kind }) => kind).join(" "),
  DESCRIPTION: "another",
};

test("a change of every kind is one PUT for each object, and nothing is left to do", async () => {
  const expected = resources.flatMap(({ collection }) =>
    (serviceBefore[collection] ?? []).map(({ id }) => `PUT /${collection}/${id}`),
  );
  const done = (await writes()).length;
  const changed = { ...native, ...described };
  await run(["up", "--yes", "--skip-preview"], changed);
  const made = (await writes()).slice(done).map(({ method, path }) => `${method} ${path}`);
  expect(made.sort()).toEqual(expected.sort());
  await run(["preview", "--expect-no-changes"], changed);
  await expectSecretsEncrypted();
});

test("one transformation takes the stack back: each object is written once, and then all is as before", async () => {
  const serviceThen = await project.collections();
  const expected = resources.flatMap(({ collection }) =>
    (serviceThen[collection] ?? []).map(({ id }) => `PUT /${collection}/${id}`),
  );
  const done = (await writes()).length;
  const back = { ...described, BACK: "1" };
  const { changeSummary } = JSON.parse(await run(["preview", "--json"], back));
  // The Ownership is new; the stack, the component and the resources from other packages stay.
  expect(changeSummary).toMatchObject({ create: 1, update: expected.length });
  await run(["up", "--yes", "--skip-preview"], back);
  const made = (await writes()).slice(done).map(({ method, path }) => `${method} ${path}`);
  expect(made.sort()).toEqual(expected.sort());
  for (const { type, outputs } of (await byName()).values()) {
    expect(type).toMatch(/^pulumi-nodejs:dynamic\/conversation:/);
    expect(outputs).toHaveProperty("__provider");
  }
  await expectSecretsEncrypted();
  await run(["preview", "--expect-no-changes"], described);
  expect(JSON.parse((await project.tool(["orphans", "--json"])).output)).toEqual([]);
});
