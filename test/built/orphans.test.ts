import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import type { HubObject } from "../support/emulator-control.js";

/** A channel for each name; before them PROBES, resources whose process looks at the states while the engine runs. */
const program = `
const pulumi = require("@pulumi/pulumi");
const { Channel } = require("pulumi-conversation");
const { NAMES = "", ADOPT, RETAIN, PROBES = "[]" } = process.env;
const look = { create: async ({ owner, object, scope }) => {
  const { statesOfThisRun } = require(process.env.STATES);
  const states = await statesOfThisRun(owner, scope);
  const reported = states && { holders: states.holdersOf("Channel", object), resource: states.resourceOf(owner), complete: states.complete };
  return { id: "probe", outs: { reported: JSON.stringify(reported ?? "nothing") } };
} };
class Probe extends pulumi.dynamic.Resource {
  constructor(name, props) { super(look, name, { ...props, reported: undefined }); }
}
const dependsOn = JSON.parse(PROBES).map((probe) => new Probe("probe-" + Math.random(), probe));
exports.reported = dependsOn.map(({ reported }) => reported);
for (const name of NAMES.split(",").filter(Boolean))
  new Channel(name, { type: "custom." + name.replace(/-.*/, ""), displayName: "by us", icon: "aVZC", ...(ADOPT ? { adopt: ADOPT } : {}) }, { retainOnDelete: RETAIN === "yes", dependsOn });
`;

const urnOf = (name: string): string =>
  `urn:pulumi:prod::shop::${project.token("Channel")}::${name}`;

let project: EmulatedProject;

beforeAll(async () => {
  const STATES = `${process.cwd()}/dist/provider/pulumi-cli/stack-states.js`;
  project = await emulatedProject(program, {}, { STATES });
  await project.succeed(["stack", "init", "other"]);
});

afterAll(() => project?.close());

const up = (environment: Readonly<Record<string, string>>) =>
  project.succeed(["up", "--yes", "--skip-preview", "--stack", "prod"], environment);

const orphans = async (...args: string[]): Promise<HubObject[]> => {
  const { output, errors } = await project.tool(["orphans", "--json", "--stack", "prod", ...args]);
  if (output === "") throw new Error(errors);
  return JSON.parse(output);
};

const refusal = async (...args: string[]): Promise<string> => {
  const { code, errors } = await project.tool(["orphans", "--stack", "prod", ...args]);
  expect(code).toBe(1);
  return errors;
};

const called = async (type: string): Promise<HubObject> => {
  const found = (await project.objects("channels")).find((channel) => channel.type === type);
  if (!found) throw new Error(`no channel ${type}`);
  return found;
};

/** A call of a person with credentials of their own. */
const ownership = (): string => {
  const id = /"(shop\/prod\/[0-9a-f]{16})"/.exec(project.state())?.[1];
  if (!id) throw new Error("no Ownership");
  return id;
};

interface Probe {
  readonly owner: string;
  readonly object: string;
  readonly scope: "own" | "all";
}

/** What the process of a provider sees in the states while the engine runs, for each of these. */
const seenInRun = async (names: string, ...probes: readonly Probe[]) => {
  await up({ NAMES: names, PROBES: JSON.stringify(probes) });
  const output = ["stack", "output", "reported", "--json", "--stack", "prod"];
  const reported: readonly string[] = JSON.parse(await project.succeed(output));
  return reported.map((text) => JSON.parse(text));
};

test("what was renamed or moved in the state is seen as held, and never touched; copies stay", async () => {
  await up({ NAMES: "a,b" });
  const [a, b] = [await called("custom.a"), await called("custom.b")];
  const owner = `${ownership()}/a`;
  await project.succeed(["state", "rename", urnOf("a"), "a-renamed", "--yes", "--stack", "prod"]);
  const renamed = { urn: urnOf("a-renamed"), stack: "prod", own: true, kind: "Channel", id: a.id };
  const [now] = await seenInRun("a-renamed,b", { owner, object: a.id, scope: "own" });
  expect(now).toMatchObject({ holders: [renamed], complete: false });
  expect(now.resource).toBeUndefined();
  expect(await orphans()).toEqual([]);

  const move = ["--source", "prod", "--dest", "other", urnOf("a-renamed"), "--yes"];
  await project.succeed(["state", "move", ...move]);
  const [seen, unanswered] = await seenInRun(
    "b",
    { owner: `${owner}-renamed`, object: a.id, scope: "all" },
    { owner: "shop/prod/0000000000000000/b", object: b.id, scope: "all" },
  );
  expect(seen).toMatchObject({ holders: [{ stack: "other", own: false }], complete: true });
  expect(seen.resource).toBeUndefined();
  // An owner of another stack, or of a lost state, is not answered for.
  expect(unanswered).toBe("nothing");

  const { id: _, created: __, modified: ___, ...copied } = b;
  await project.byHand("POST", "/channels", { ...copied, type: "custom.copy" });
  const copy = await called("custom.copy");
  const standing = [
    expect.objectContaining({
      id: a.id,
      standing: "held",
      heldBy: [expect.objectContaining({ stack: "other" })],
    }),
    expect.objectContaining({ id: copy.id, standing: "copy" }),
  ];
  const found = await orphans("--delete");
  expect(found).toEqual(expect.arrayContaining(standing));
  expect(found).toHaveLength(2);
  expect(await refusal("--delete", "--id", a.id, "--id", copy.id)).toMatch(
    new RegExp(`${a.id}: a state contains the object.*\\n.*${copy.id}: a person copied the object`),
  );
  expect(await refusal("--release", "--id", b.id)).toContain(
    "the state of prod contains the object",
  );
  expect(await project.objects("channels")).toHaveLength(3);

  expect(await orphans("--release", "--id", copy.id)).toContainEqual(
    expect.objectContaining({ id: copy.id, released: true }),
  );
  expect(await called("custom.copy")).not.toHaveProperty("description");
  await project.byHand("DELETE", `/channels/${copy.id}`);
  await project.succeed(["destroy", "--yes", "--skip-preview", "--stack", "other"]);
});

test("kept, destroyed, refused: released objects can be adopted", async () => {
  await up({ NAMES: "kept,gone", RETAIN: "yes" });
  const [kept, gone] = [await called("custom.kept"), await called("custom.gone")];
  await project.succeed(["destroy", "--yes", "--skip-preview", "--stack", "prod"]);
  expect(await project.objects("channels")).toHaveLength(2);
  const refused = await project.pulumi(["up", "--yes", "--skip-preview", "--stack", "prod"], {
    NAMES: "kept",
  });
  expect(refused.output).toContain("belongs to another Pulumi resource or state");
  const found = await orphans("--delete");
  expect(found).toHaveLength(2);
  // In the order in which they were made, which Pulumi does not promise.
  for (const one of [
    { id: kept.id, standing: "former", label: "shop/prod kept" },
    { id: gone.id, standing: "former" },
  ])
    expect(found).toContainEqual(expect.objectContaining(one));
  expect(await project.objects("channels")).toHaveLength(2);
  expect(await orphans("--delete", "--id", gone.id)).toContainEqual(
    expect.objectContaining({ id: gone.id, deleted: true }),
  );
  expect(await orphans("--release", "--id", kept.id)).toEqual([
    expect.objectContaining({ id: kept.id, released: true }),
  ]);
  await up({ NAMES: "kept", ADOPT: kept.id });
  expect(await project.objects("channels")).toEqual([expect.objectContaining({ id: kept.id })]);
  expect(project.state()).toContain(kept.id);
});

test("a stack that is not there is named, with what to do", async () => {
  const { code, errors } = await project.tool(["orphans", "--stack", "nowhere"]);
  expect(code).toBe(1);
  expect(errors).toContain("no stack named 'nowhere' found");
  expect(errors).toContain("pulumi stack init");
});
