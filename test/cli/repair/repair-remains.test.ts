import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { messageOf } from "../../../cli/command.js";
import { repairReport } from "../../../cli/repair/repair.js";
import { isRepaired } from "../../../cli/repair/schemas.js";
import { pending, type StackSandbox, stackSandbox } from "../stack/stack-sandbox.js";

const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };
const ended = 4_194_303;
const lockOf = (pid: unknown, since = "2026-01-01T11:00:00.5+01:00", host = hostname()) => ({
  ...{ pid, username: "ci", hostname: host, timestamp: since },
});

const cutOff = async (backend?: string) => {
  const box = await stackSandbox({}, backend);
  await box.up("Channel", "web", web);
  box.write(pending("creating", box.popped()));
  return box;
};

const said = (box: StackSandbox, more = {}): Promise<string> =>
  box.repair({ apply: true, ...more }).then(repairReport, messageOf);

test("the lock of a run that is gone is taken away, and told with its time", async () => {
  const box = await cutOff();
  box.lock(lockOf(ended));
  const found = await box.repair({ apply: true });
  expect(found.steps).toMatchObject([
    { action: "cancel", by: `ci@${hostname()}, process ${ended}, since 2026-01-01T10:00:00Z` },
    { action: "record", done: true },
  ]);
  expect(box.asked().filter((line) => line.startsWith("cancel"))).toHaveLength(1);
});

test("a lock that is empty was cut off; its number given to another process since is left behind", async () => {
  const box = await cutOff();
  box.lock("");
  expect(await box.repair()).toMatchObject({ steps: [{ action: "cancel" }, {}] });
  // This process is no Pulumi, and began long after the lock was taken.
  box.lock(lockOf(process.pid));
  expect(await box.repair()).toMatchObject({ steps: [{ action: "cancel" }, {}] });
});

const lockOfRun = () => {
  const child = spawn("sleep", ["600"]);
  onTestFinished(() => void child.kill());
  return lockOf(child.pid, new Date().toISOString());
};

test("a run that begins while repair looks is left alone: the state is not written", async () => {
  const box = await cutOff();
  const before = box.deployment();
  // At the third export all states are read; then the steps are done.
  box.lockThen(3, lockOfRun());
  const { steps } = await box.repair({ apply: true });
  const reason = expect.stringContaining("A run is at work on the stack shop/prod");
  expect(steps).toMatchObject([{ action: "record", done: false, reason }]);
  expect(box.deployment()).toEqual(before);
});

test("what was interrupted while it looked writes nothing", async () => {
  const box = await cutOff();
  const before = box.deployment();
  const controller = new AbortController();
  const say = () => undefined;
  const repairing = box.repair({ apply: true, say, signal: controller.signal });
  controller.abort(new Error("interrupted"));
  await expect(repairing).rejects.toThrow();
  expect(box.deployment()).toEqual(before);
});

const refusals: readonly (readonly [string, (box: StackSandbox) => void, string])[] = [
  [
    "of a run that lives, whatever its program is called",
    (box) => box.lock(lockOfRun()),
    "A run is at work on the stack shop/prod",
  ],
  [
    "of another machine",
    (box) => box.lock(lockOf(7, undefined, "elsewhere")),
    "taken on another machine (ci@elsewhere, process 7",
  ],
  ["without an owner", (box) => box.lock({}), "does not say whose it is"],
  ["that cannot be read", (box) => mkdirSync(join(box.locks, "1.json")), "its lock cannot be read"],
  [
    "in a folder that cannot be read",
    (box) => {
      rmSync(box.locks, { recursive: true });
      writeFileSync(box.locks, "");
    },
    "its locks cannot be read",
  ],
];

test.each(refusals)("a lock %s is refused, and nothing changes", async (_, prepare, text) => {
  const box = await cutOff();
  prepare(box);
  const before = box.bytes();
  expect(await said(box)).toContain(text);
  expect(box.bytes()).toEqual(before);
  const isAlive = text.startsWith("A run");
  const vouched = await said(box, { ignoreLock: true });
  expect(vouched).toContain(isAlive ? text : "✓ Write Channel web into the state");
});

test.each([
  ["s3://states", "the backend s3 does not show its locks"],
  ["gs://states", "the backend gs does not show its locks"],
])("a backend that hides its locks: %s", async (backend, text) => {
  const box = await cutOff(backend);
  expect(await said(box)).toContain(text);
  expect(await said(box, { ignoreLock: true })).toContain("✓ Write Channel web into the state");
});

test("Pulumi Cloud tells of updates itself", async () => {
  const box = await cutOff("https://api.pulumi.com");
  const { steps } = await box.repair({ apply: true });
  expect(steps).toMatchObject([{ action: "record", done: true }]);
});

test("attributes that were cut off: nothing else can be seen before they are gone", async () => {
  const box = await cutOff();
  const file = `${box.stateFile}.attrs`;
  writeFileSync(file, "");
  const shown = await box.repair();
  expect(shown).toMatchObject({ steps: [{ action: "remove-cut-off-files", files: [file] }] });
  expect(existsSync(file)).toBe(true);
  const done = await box.repair({ apply: true });
  expect(done.steps.map(({ action }) => action)).toEqual(["remove-cut-off-files", "record"]);
  expect(isRepaired(done)).toBe(true);
  expect(existsSync(file)).toBe(false);
});

const copies = ["stacks/shop/prod.json.bak", "backups/shop/prod/prod.1795355262375591458.json"];

test.each(copies)(
  "a state that was cut off is what its copy %s is, and the rest is found",
  async (name) => {
    const box = await cutOff();
    const copy = join(box.folder, ".pulumi", name);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, readFileSync(box.stateFile));
    for (const length of [300, 1, 0]) {
      truncateSync(box.stateFile, length);
      const shown = await box.repair();
      expect(shown.steps[0]).toMatchObject({ action: "restore-state", file: box.stateFile, copy });
      expect(readFileSync(box.stateFile)).toHaveLength(length);
    }
    const done = await box.repair({ apply: true });
    expect(done.steps).toMatchObject([{ action: "restore-state" }, { action: "record" }]);
    expect(isRepaired(done)).toBe(true);
  },
);

test("files of a stack at which a run is at work are not touched", async () => {
  const box = await cutOff();
  const file = `${box.stateFile}.attrs`;
  writeFileSync(file, "");
  box.lock(lockOf(7, undefined, "elsewhere"));
  expect(await said(box)).toContain("taken on another machine");
  expect(existsSync(file)).toBe(true);
});
