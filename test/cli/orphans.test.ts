import { expect, test } from "vitest";
import { messageOf } from "../../cli/command.js";
import { application, authentication, channel, orphansSandbox } from "./orphans-sandbox.js";
import { run } from "./session.js";
import { stateText } from "./stack-documents.js";

/** A stack that has made its Ownership and one channel that nobody looks at. */
const kept = { kind: "Channel", name: "kept", id: "kept" };
const deployed = stateText("prod", [kept]);
const empty = stateText("prod", []);
const former = "shop/prod/ffffffffffffffff/former";

const refusalOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "not refused",
    (error: unknown) => messageOf(error),
  );

test("left-overs are listed with what they are, and deleted users first", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  const auth = await box.make("Authentication", "auth", authentication("auth"));
  const app = await box.make("ClientApplication", "app", application("app", auth));
  const listed = await box.run();
  expect(listed.found.map(({ kind, id, standing }) => [kind, id, standing])).toEqual([
    ["ClientApplication", app, "left-over"],
    ["Authentication", auth, "left-over"],
  ]);
  expect(listed.notes).toEqual([]);
  const { found } = await box.run({ delete: true });
  expect(found.map(({ deleted }) => deleted)).toEqual([true, true]);
  expect(await box.objects("authentications")).toEqual([]);
});

test("interrupted, it says of each left-over whether it is gone", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  for (let n = 0; n < 20; n++) await box.make("Channel", `c${n}`, channel(`custom.c${n}`));
  const controller = new AbortController();
  const running = box.run({ delete: true, signal: controller.signal });
  while (!(await box.calls()).some((call) => call.startsWith("DELETE")));
  controller.abort("SIGINT");
  const { found } = await running;
  const left = (await box.objects("channels")).map(({ id }) => id);
  const gone = found.filter(({ deleted }) => deleted);
  expect(found).toHaveLength(20);
  expect(gone.length).toBeLessThan(20);
  for (const { id } of gone) expect(left).not.toContain(id);
  for (const { deleted, reason } of found) if (!deleted) expect(reason).toBeDefined();
  // The next one does the rest.
  expect((await box.run({ delete: true })).found.every(({ deleted }) => deleted)).toBe(true);
  expect(await box.objects("channels")).toEqual([]);
});

test("objects of a state, of others and without a mark are never listed", async () => {
  const box = await orphansSandbox();
  const own = await box.make("Channel", "own", channel("custom.own"));
  const moved = await box.make("Channel", "moved", channel("custom.moved"));
  await box.make("Channel", "foreign", channel("custom.f"), "");
  await box.make("Channel", "else", channel("custom.e"), "site/prod/ffffffffffffffff/else");
  box.states(
    stateText("prod", [{ kind: "Channel", name: "own", id: own }]),
    stateText("other", [{ kind: "Channel", name: "moved", id: moved }]),
  );
  const { found } = await box.run({ delete: true });
  expect(found).toMatchObject([{ id: moved, standing: "held", heldBy: [{ stack: "other" }] }]);
  expect(await box.objects("channels")).toHaveLength(4);
});

test("a stack that is locked: listed with a note, nothing deleted, --ignore-lock or not", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  box.lock();
  const id = await box.make("Channel", "a", channel("custom.a"));
  const { found, notes } = await box.run();
  expect(found).toHaveLength(1);
  expect(notes.join()).toContain("shop/prod is locked");
  for (const more of [
    { delete: true },
    { delete: true, ignoreLock: true },
    { release: true, ids: [id] },
  ] as const)
    expect(await refusalOf(box.run(more))).toMatch(
      /^Nothing was (deleted|released): the stack shop\/prod is locked.*pulumi cancel/,
    );
  expect(await box.objects("channels")).toMatchObject([
    { description: expect.stringContaining("[pulumi:") },
  ]);
});

test("a lock that cannot be seen: refused, until the person vouches for it", async () => {
  const box = await orphansSandbox({ backend: "s3://states" });
  box.states(deployed);
  await box.make("Channel", "a", channel("custom.a"));
  expect(await refusalOf(box.run({ delete: true }))).toContain("--ignore-lock");
  expect((await box.run({ delete: true, ignoreLock: true })).found).toMatchObject([
    { deleted: true },
  ]);
});

test("where a stack cannot be read, only what is named is deleted", async () => {
  const box = await orphansSandbox();
  box.states(deployed, "torn");
  const id = await box.make("Channel", "a", channel("custom.a"));
  await box.make("Channel", "b", channel("custom.b"));
  const refusal = await refusalOf(box.run({ delete: true }));
  expect(refusal).toContain("not every stack of the backend could be read");
  const { found } = await box.run({ delete: true, ids: [id] });
  expect(found.map(({ deleted }) => deleted)).toEqual([true, undefined]);
  expect(await box.objects("channels")).toHaveLength(1);
});

test("a run that begins while left-overs are deleted stops that", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  await box.make("Channel", "a", channel("custom.a"));
  await box.make("Channel", "b", channel("custom.b"));
  // Looks: for the names, for all stacks, before the first and before the second deletion.
  box.thenLock(4);
  const { found } = await box.run({ delete: true });
  expect(found).toMatchObject([
    { deleted: true },
    { deleted: false, reason: expect.stringContaining("the stack shop/prod is locked") },
  ]);
  expect(await box.objects("channels")).toHaveLength(1);
});

test("what a run took over since the look stays", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  const id = await box.make("Channel", "a", channel("custom.a"));
  box.thenState(3, stateText("prod", [kept, { kind: "Channel", name: "a", id }]));
  const { found } = await box.run({ delete: true });
  expect(found).toMatchObject([
    {
      deleted: false,
      reason: expect.stringContaining("a run has taken it over since: urn:pulumi:prod"),
    },
  ]);
  expect(await box.objects("channels")).toHaveLength(1);
});

test("a refusal names who uses the left-over", async () => {
  const box = await orphansSandbox();
  box.states(deployed);
  const auth = await box.make("Authentication", "auth", authentication("auth"));
  const app = await box.make("ClientApplication", "theirs", application("theirs", auth), "");
  const { found } = await box.run({ delete: true });
  expect(found).toMatchObject([{ id: auth, deleted: false }]);
  expect(found[0]?.reason).toContain(
    `client application "theirs" (id ${app}, not managed by Pulumi)`,
  );
});

test("ids that must not be touched are all told, and nothing is done", async () => {
  const box = await orphansSandbox();
  const own = await box.make("Channel", "own", channel("custom.own"));
  const copy = await box.make("Channel", "own", channel("custom.copy"));
  const left = await box.make("Channel", "left", channel("custom.left"));
  box.states(stateText("prod", [{ kind: "Channel", name: "own", id: own }]));
  const ids = [left, own, copy, "unknown"];
  const refusal = await refusalOf(box.run({ delete: true, ids }));
  expect(refusal.split("\n")).toEqual([
    "Nothing was deleted:",
    expect.stringContaining(`${own}: the state of prod holds it: urn:`),
    expect.stringContaining(`${copy}: it is a copy`),
    expect.stringContaining("unknown: no object with this id"),
  ]);
  expect(await box.objects("channels")).toHaveLength(3);
});

test("a stack that has made nothing: said plainly, what carries its name listed, deleted only by id", async () => {
  const box = await orphansSandbox();
  box.states(empty);
  const id = await box.make("Channel", "former", channel("custom.former"), former);
  const { found, notes } = await box.run({ delete: true });
  expect(found).toMatchObject([{ id, standing: "former" }]);
  expect(notes.join()).toContain("The state of shop/prod holds no Ownership");
  expect(await box.objects("channels")).toHaveLength(1);
  expect((await box.run({ delete: true, ids: [id] })).found).toMatchObject([{ deleted: true }]);
});

test("release takes off the mark and nothing else, with one read and one PUT", async () => {
  const box = await orphansSandbox({ emulator: { switches: { secrets: "echo" } } });
  box.states(empty);
  const body = { ...authentication("former"), active: false };
  const id = await box.make("Authentication", "former", body, former);
  const [before] = await box.objects("authentications");
  const lists = (await box.calls()).length;
  expect((await box.run({ release: true, ids: [id] })).found).toMatchObject([{ released: true }]);
  const { modified: _, ...after } = (await box.objects("authentications"))[0] ?? {};
  expect(before).toMatchObject({ ...after, description: expect.stringContaining("[pulumi:") });
  expect(after.description).toBe("by hand");
  const calls = (await box.calls()).slice(lists).filter((call) => call.includes("{id}"));
  expect(calls).toEqual(["GET /authentications/{id} 200", "PUT /authentications/{id} 204"]);
  expect((await box.run()).found).toEqual([]);
});

test.each(["mask", "omit"] as const)(
  "release refuses what a PUT would erase (%s)",
  async (secrets) => {
    const box = await orphansSandbox({ emulator: { switches: { secrets } } });
    box.states(empty);
    const id = await box.make("Authentication", "former", authentication("former"), former);
    const { found } = await box.run({ release: true, ids: [id] });
    expect(found).toMatchObject([{ released: false }]);
    expect(found[0]?.reason).toContain("hides basicAuth.password");
    expect((await box.calls()).filter((call) => call.startsWith("PUT"))).toEqual([]);
  },
);

test("the service is asked within its rates, and long waits are told", async () => {
  const box = await orphansSandbox({
    emulator: { plan: "developer", burst: 1 },
    environment: { CONVERSATION_PLAN: "developer", CONVERSATION_BURST: "1" },
  });
  box.states(deployed);
  for (let number = 0; number < 11; number += 1)
    await box.make("Channel", `c${number}`, channel(`custom.c${number}`));
  const before = (await box.calls()).length;
  const said: string[] = [];
  await box.run({ say: (text) => said.push(text) });
  const made = (await box.calls()).slice(before);
  expect(made.filter((call) => call === "GET /channels 200")).toHaveLength(2);
  expect(made.filter((call) => call.endsWith("429"))).toEqual([]);
  expect(said.join("\n")).toMatch(/\d+ s left for GET \/channels, 1 call queued/);
});

test.each([
  [["--delete", "--release", "--id", "1"], "either --delete or --release"],
  [["--release"], "with --id"],
  [["--id", "1"], "add --delete or --release"],
  [["--ignore-lock"], "--ignore-lock is for"],
])("orphans %j is a wrong command line", async (args, text) => {
  const { code, err } = await run("orphans", ...args);
  expect(code).toBe(2);
  expect(err).toContain(text);
});
