import { expect, test } from "vitest";
import { messageOf } from "../../cli/command.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type OrphansOptions, runOrphans } from "../../cli/orphans/orphans.js";
import { startEmulator } from "../../emulator/index.js";
import { newSerial } from "../../provider/lifecycle/ownership.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/resource.js";
import { kindOf } from "../emulator/running.js";
import { clockOf } from "../support/emulated.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { roleOf } from "../support/forms.js";
import { stackSandbox } from "./inventory/stack-sandbox.js";
import { run } from "./session.js";
import { ownershipOf, stateText } from "./stack-documents.js";

const channel = (type: string) => ({ type: `custom.${type}`, displayName: "Web", icon: "aVZC" });
const auth = { name: "auth", type: "basic", basicAuth: { username: "hub", password: "p" } };
const former = "shop/prod/ffffffffffffffff/former";

/** A stack that has made its Ownership, and objects that bear marks. */
const orphansSandbox = async (...options: Parameters<typeof stackSandbox>) => {
  const box = await stackSandbox(...options);
  box.write();
  return {
    ...box,
    orphans: (more: OrphansOptions = {}) => runOrphans({ ...box.options, ...more }),
    /** Makes an object with the mark of a resource of a stack; `owner` empty: with none. */
    make: async (
      kind: string,
      body: Record<string, unknown>,
      owner = `${ownershipOf("prod")}/${body.name ?? body.type}`,
    ): Promise<string> => {
      const mark =
        owner &&
        markFor(markOf(kind, owner), newSerial({ now: () => undefined }), body.name ?? body.type);
      const marked = mark ? { description: `by hand ${markText(mark)}` } : {};
      const path = `/${kindOf(kind).collection}`;
      return String((await box.control.byHand("POST", path, { ...body, ...marked })).id);
    },
    refusal: (more: OrphansOptions): Promise<string> =>
      runOrphans({ ...box.options, ...more }).then(() => "not refused", messageOf),
    /** The state of a stack that has made nothing. */
    empty: (): void => {
      box.state.length = 0;
      box.write();
    },
    calls: async (): Promise<string[]> =>
      (await box.control.log()).map(({ method, template, status }) =>
        [method, template, status].join(" "),
      ),
  };
};

const applicationOf = (id: string) => ({
  name: "app",
  roles: [roleOf("custom_bot", { authentication: { id } })],
});

test("leftovers are listed with what they are, and deleted users first", async () => {
  const box = await orphansSandbox();
  const id = await box.make("Authentication", auth);
  const app = await box.make("ClientApplication", applicationOf(id));
  const listed = await box.orphans();
  expect(listed.found.map((each) => [each.kind, each.id, each.standing])).toEqual([
    ["ClientApplication", app, "leftover"],
    ["Authentication", id, "leftover"],
  ]);
  expect(listed.notes).toEqual([]);
  const { found } = await box.orphans({ delete: true });
  expect(found.map(({ deleted }) => deleted)).toEqual([true, true]);
  expect(await box.control.objects("authentications")).toEqual([]);
});

test("interrupted, it says of each leftover whether it is gone", async () => {
  const box = await orphansSandbox();
  for (let n = 0; n < 20; n++) await box.make("Channel", channel(`c${n}`));
  const controller = new AbortController();
  const running = box.orphans({ delete: true, signal: controller.signal });
  while (!(await box.calls()).some((call) => call.startsWith("DELETE")));
  controller.abort("SIGINT");
  const { found } = await running;
  const left = (await box.control.objects("channels")).map(({ id }) => id);
  const gone = found.filter(({ deleted }) => deleted);
  expect(found).toHaveLength(20);
  expect(gone.length).toBeLessThan(20);
  for (const { id } of gone) expect(left).not.toContain(id);
  for (const { deleted, reason } of found) if (!deleted) expect(reason).toBeDefined();
  // The next one does the rest.
  expect((await box.orphans({ delete: true })).found.every(({ deleted }) => deleted)).toBe(true);
  expect(await box.control.objects("channels")).toEqual([]);
});

test("objects of a state, of others and without a mark are never deleted", async () => {
  const moved = { kind: "Channel", name: "custom.moved", id: "" };
  const box = await orphansSandbox({ other: "later" });
  await box.up("Channel", "own", channel("own"));
  moved.id = await box.make("Channel", channel("moved"));
  await box.make("Channel", channel("f"), "");
  await box.make("Channel", channel("e"), "site/prod/ffffffffffffffff/else");
  box.write();
  box.writeOther(stateText("other", [moved]));
  const { found } = await box.orphans({ delete: true });
  expect(found).toMatchObject([{ id: moved.id, standing: "held", heldBy: [{ stack: "other" }] }]);
  const named = { delete: true, ids: [moved.id] } as const;
  expect(await box.refusal(named)).toContain("a state contains the object, or a program looks it");
  expect(await box.control.objects("channels")).toHaveLength(4);
});

test("every account that the stack may use is searched, and a profile chooses one", async () => {
  const box = await orphansSandbox();
  const id = await box.make("Channel", channel("a"));
  await using home = await startEmulator();
  const entries = Object.entries(emulatorEnvironment(box.emulator));
  const eu = entries.map(([name, value]) => [
    name.replace("CONVERSATION", "CONVERSATION_EU"),
    value,
  ]);
  const env = { ...box.options.env, ...Object.fromEntries(eu), ...emulatorEnvironment(home) };
  for (const profile of [undefined, "eu"])
    expect((await box.orphans({ env, profile })).found).toMatchObject([{ id }]);
  const paths = (await new EmulatorControl(home).log()).map(({ template }) => template);
  expect(paths.filter((path) => path === "/channels")).toHaveLength(1);
});

test("a stack that is locked: listed with a note, nothing deleted, --ignore-lock or not", async () => {
  const box = await orphansSandbox();
  box.lock({});
  const id = await box.make("Channel", channel("a"));
  const { found, notes } = await box.orphans();
  expect(found).toHaveLength(1);
  expect(notes.join()).toContain("shop/prod is locked: a run may be changing");
  for (const more of [
    { delete: true },
    { delete: true, ignoreLock: true },
    { release: true, ids: [id] },
  ] as const)
    expect(await box.refusal(more)).toMatch(
      /^Not done: the stack shop\/prod is locked, .*pulumi cancel/,
    );
  expect(await box.refusal({ delete: true, stack: "prod" })).toContain("run pulumi cancel prod.");
  expect(await box.control.objects("channels")).toMatchObject([
    { description: expect.stringContaining("[pulumi:") },
  ]);
});

test("a lock that cannot be seen: refused, until the person vouches for it", async () => {
  const box = await orphansSandbox({ backend: "s3://states" });
  await box.make("Channel", channel("a"));
  expect(await box.refusal({ delete: true })).toContain("--ignore-lock");
  const { found } = await box.orphans({ delete: true, ignoreLock: true });
  expect(found).toMatchObject([{ deleted: true }]);
});

test("if a stack cannot be read, only what is named is deleted", async () => {
  const box = await orphansSandbox({ other: "torn" });
  const id = await box.make("Channel", channel("a"));
  await box.make("Channel", channel("b"));
  expect(await box.refusal({ delete: true })).toContain(
    "could not read every stack in the backend",
  );
  const { found } = await box.orphans({ delete: true, ids: [id] });
  expect(found.map(({ deleted }) => deleted)).toEqual([true, undefined]);
  expect(await box.control.objects("channels")).toHaveLength(1);
});

test("a run that begins while leftovers are deleted stops that", async () => {
  const box = await orphansSandbox();
  for (const name of ["a", "b"]) await box.make("Channel", channel(name));
  // Looks: for the stack, for all stacks, before the first and before the second deletion.
  box.lockThen(4, {});
  const { found } = await box.orphans({ delete: true });
  expect(found).toMatchObject([
    { deleted: true },
    { deleted: false, reason: expect.stringContaining("the stack shop/prod is locked") },
  ]);
  expect(await box.control.objects("channels")).toHaveLength(1);
});

test("what a run took over since the look stays", async () => {
  const box = await orphansSandbox();
  await box.up("Channel", "a", channel("a"));
  box.writeThen(3);
  const { found } = await box.orphans({ delete: true });
  const reason = "a run adopted the object in the meantime: urn:pulumi:prod";
  expect(found).toMatchObject([{ deleted: false, reason: expect.stringContaining(reason) }]);
  expect(await box.control.objects("channels")).toHaveLength(1);
});

test("what somebody has marked again or released since the look stays, and the others go", async () => {
  const box = await orphansSandbox();
  for (let n = 0; n < 12; n++) await box.make("Channel", channel(`c${n}`));
  const running = box.orphans({ delete: true });
  while (!(await box.calls()).some((call) => call.startsWith("DELETE")));
  const serial = { serial: "0tm9x2k4r7q", checksum: "1c2d" };
  const changed = [
    markText({ ...markOf("Channel", "site/prod/ffffffffffffffff/else"), ...serial }),
    markText({ ...markOf("Channel", `${ownershipOf("prod")}/custom.c10`), ...serial }),
    "by hand",
  ];
  for (const [place, channel] of (await box.control.objects("channels")).slice(-3).entries()) {
    const { id, created: _, modified: __, ...body } = channel;
    const description = changed[place];
    await box.control.byHand("PUT", `/channels/${id}`, { ...body, description });
  }
  const { found } = await running;
  expect(found.slice(0, -3).map(({ deleted }) => deleted)).toEqual(Array(9).fill(true));
  const reason = "its mark was changed or removed in the meantime";
  expect(found.slice(-3)).toMatchObject(changed.map(() => ({ deleted: false, reason })));
  expect(await box.control.objects("channels")).toMatchObject(
    changed.map((description) => ({ description })),
  );
});

test("a leftover that cannot be read is not deleted, and the others are", async () => {
  const box = await orphansSandbox();
  for (const name of ["a", "b"]) await box.make("Channel", channel(name));
  await box.control.faults({ on: "GET /channels/{id}", kind: "status", status: 403, times: 1 });
  const { found } = await box.orphans({ delete: true });
  expect(found).toMatchObject([
    { deleted: false, reason: expect.stringContaining("Could not read channel") },
    { deleted: true },
  ]);
});

test("a refusal names who uses the leftover", async () => {
  const box = await orphansSandbox();
  const id = await box.make("Authentication", auth);
  const app = await box.make("ClientApplication", applicationOf(id), "");
  const { found } = await box.orphans({ delete: true });
  expect(found).toMatchObject([{ id, deleted: false }]);
  expect(found[0]?.reason).toContain(`client application "app" (ID ${app}, not managed by Pulumi)`);
  await box.control.byHand("DELETE", `/clientapplications/${app}`);
  await box.control.faults({ on: "DELETE /authentications/{id}", kind: "status", status: 403 });
  const [unused] = (await box.orphans({ delete: true })).found;
  expect(unused).toMatchObject({ deleted: false, reason: expect.not.stringContaining("in use") });
});

test("ids that must not be touched are all named, and nothing is done", async () => {
  const box = await orphansSandbox();
  const own = await box.up("Channel", "own", channel("own"));
  box.write();
  const [original] = await box.control.objects("channels");
  const { description } = { ...original };
  const copy = await box.make("Channel", { ...channel("copy"), description }, "");
  const left = await box.make("Channel", channel("left"));
  const ids = [left, own, copy, "unknown"];
  expect((await box.refusal({ delete: true, ids })).split("\n")).toEqual([
    "Nothing was deleted:",
    expect.stringContaining(`${own}: the state of prod contains the object: urn:`),
    expect.stringContaining(`${copy}: a person copied the object`),
    expect.stringContaining("unknown: no object with this ID"),
  ]);
  expect(await box.control.objects("channels")).toHaveLength(3);
  const { found } = await box.orphans({ release: true, ids: [copy] });
  expect(found.filter(({ released }) => released)).toMatchObject([{ id: copy }]);
});

test("what carries the name of a stack that has made nothing is deleted only by id", async () => {
  const box = await orphansSandbox();
  box.empty();
  const id = await box.make("Channel", channel("former"), former);
  const { found } = await box.orphans({ delete: true });
  expect(found).toMatchObject([{ id, standing: "former" }]);
  expect(await box.control.objects("channels")).toHaveLength(1);
  expect((await box.orphans({ delete: true, ids: [id] })).found).toMatchObject([{ deleted: true }]);
});

test("release takes off the mark and nothing else, with one read and one PUT", async () => {
  const box = await orphansSandbox({ emulator: { switches: { secrets: "echo" } } });
  box.empty();
  const id = await box.make("Authentication", { ...auth, active: false }, former);
  const [before] = await box.control.objects("authentications");
  const earlier = (await box.calls()).length;
  const release = { release: true, ids: [id] } as const;
  expect((await box.orphans(release)).found).toMatchObject([{ released: true }]);
  const [released] = await box.control.objects("authentications");
  const { modified: _, ...after }: Record<string, unknown> = released ?? {};
  expect(before).toMatchObject({ ...after, description: expect.stringContaining("[pulumi:") });
  expect(after).toMatchObject({ description: "by hand" });
  const calls = (await box.calls()).slice(earlier).filter((call) => call.includes("{id}"));
  expect(calls).toEqual(["GET /authentications/{id} 200", "PUT /authentications/{id} 204"]);
  expect((await box.orphans()).found).toEqual([]);
});

test("what somebody has marked again, deleted or released since the look is not released", async () => {
  const box = await orphansSandbox();
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) ids.push(await box.make("Channel", channel(`c${n}`), former));
  const running = box.orphans({ release: true, ids });
  while (!(await box.calls()).some((call) => call.startsWith("PUT")));
  const [gone, unmarked, marked] = (await box.control.objects("channels")).slice(-3);
  const anew = markText({ ...markOf("Channel", former), serial: "0tm9x2k4r7q", checksum: "1c2d" });
  for (const [each, description] of [[marked, anew] as const, [unmarked, "by hand"] as const]) {
    const { id, created: _, modified: __, ...body } = { ...each };
    await box.control.byHand("PUT", `/channels/${id}`, { ...body, description });
  }
  await box.control.byHand("DELETE", `/channels/${gone?.id}`);
  const { found } = await running;
  expect(found.slice(-3)).toMatchObject([
    { released: false, reason: "the object no longer exists" },
    { released: true },
    { released: false, reason: "its mark was changed or removed in the meantime" },
  ]);
  expect((await box.control.objects("channels")).at(-1)).toMatchObject({ description: anew });
});

test("where a PUT keeps what it omits, a released object is described by its name", async () => {
  const box = await orphansSandbox({ emulator: { switches: { put: "keep" } } });
  const id = await box.make("Channel", channel("former"), former);
  await box.edit(({ channels = [] }) => {
    for (const each of channels)
      each.description = String(each.description).replace("by hand ", "");
  });
  const env = { ...box.options.env, CONVERSATION_PUT: "keep" };
  const { found } = await box.orphans({ env, release: true, ids: [id] });
  expect(found).toMatchObject([{ released: true }]);
  expect(await box.control.objects("channels")).toMatchObject([{ description: "custom.former" }]);
});

test("the mark of a stack that is gone is taken off by id, if all stacks can be read", async () => {
  const box = await orphansSandbox({ other: "torn" });
  const id = await box.make("Channel", channel("gone"), "site/prod/ffffffffffffffff/gone");
  const release = { release: true, ids: [id] } as const;
  expect(await box.refusal(release)).toContain(`${id}: no object with this ID`);
  box.writeOther(stateText("other", []));
  const { found } = await box.orphans(release);
  expect(found).toMatchObject([{ standing: "former", released: true }]);
});

test.each(["mask", "omit"] as const)(
  "release refuses what a PUT would erase (%s)",
  async (secrets) => {
    const box = await orphansSandbox({ emulator: { switches: { secrets } } });
    box.empty();
    const id = await box.make("Authentication", auth, former);
    const { found } = await box.orphans({ release: true, ids: [id], stack: "prod" });
    expect(found).toMatchObject([{ released: false }]);
    expect(found[0]?.reason).toContain("hides basicAuth.password");
    expect(found[0]?.reason).toMatch(new RegExp(`orphans --delete --id ${id} --stack prod$`));
    expect((await box.calls()).filter((call) => call.startsWith("PUT"))).toEqual([]);
  },
);

test("the service is called within its rates, and long waits are announced", async () => {
  const limits = { plan: "developer", burst: 1 } as const;
  const box = await orphansSandbox({
    emulator: { clock: "manual", ...limits },
  });
  await box.edit((objects) => {
    const stamps = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };
    objects.channels = Array.from({ length: 51 }, (_, number) => ({
      ...{ id: `00000000-0000-4000-8000-${100_000_000_000 + number}`, ...stamps },
      ...channel(`c${number}`),
    }));
  });
  const env = { ...box.options.env, CONVERSATION_PLAN: "developer", CONVERSATION_BURST: "1" };
  const said: string[] = [];
  await box.orphans({ env, clock: clockOf(box.emulator), say: (text) => said.push(text) });
  const calls = await box.calls();
  expect(calls.filter((call) => call === "GET /channels 200")).toHaveLength(3);
  expect(calls.filter((call) => call.endsWith("429"))).toEqual([]);
  expect(said.join("\n")).toMatch(/\d+ s left for GET \/channels, 1 call queued/);
});

test.each([
  [["--delete", "--release", "--id", "1"], "cannot be used with option '--release'"],
  [["--release"], "--release requires --id"],
  [["--id", "1"], "--id requires --delete or --release"],
  [["--ignore-lock"], "--ignore-lock requires --delete or --release"],
])("orphans %j is a wrong command line", async (args, text) => {
  const { code, err } = await run("orphans", ...args);
  expect(code).toBe(2);
  expect(err).toContain(text);
});
