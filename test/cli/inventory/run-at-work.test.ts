import { expect, test } from "vitest";
import { runDrift } from "../../../cli/drift/drift.js";
import { runImport } from "../../../cli/import/run-import.js";
import { addressesVariable } from "../../../provider/service/emulated-settings.js";
import { pending, stackSandbox } from "./stack-sandbox.js";

const holder = { pid: process.pid, hostname: "runner", username: "ci", timestamp: "2026-01-01" };
const channel = (type: string) => ({ type, displayName: "Web", icon: "aVZC" });

/** A stack whose run has made one object, is making another, and holds the lock; a person has made a third. */
const runAtWork = async () => {
  const box = await stackSandbox();
  await box.up("Channel", "made", channel("custom.made"));
  await box.up("Channel", "begun", channel("custom.begun"));
  const begun = box.popped();
  await box.control.byHand("POST", "/channels", channel("custom.hand"));
  box.write(pending("creating", begun));
  box.lock(holder);
  return { box, id: String(begun.id) };
};

test("drift beside a run: what it is making is no drift, and the lock is reported", async () => {
  const { box, id } = await runAtWork();
  const { unmanaged, changed, deleted, notes } = await runDrift(box.options);
  expect(unmanaged).toMatchObject([{ name: "custom.hand", standing: "foreign" }]);
  expect([changed, deleted]).toEqual([[], []]);
  expect(notes[0]).toContain("shop/prod is locked: a run");
  expect(notes[1]).toContain(`A run of this stack is creating Channel "custom.begun" (ID ${id})`);
  box.unlock();
  expect((await runDrift(box.options)).notes[0]).toContain("A run of this stack is creating");
});

test("beside a new emulator, no object of the stack is said to be deleted", async () => {
  const box = await stackSandbox();
  const id = await box.up("Channel", "made", channel("custom.made"));
  box.write();
  await box.control.byHand("DELETE", `/channels/${id}`);
  expect((await runDrift(box.options)).deleted).toMatchObject([{ id }]);
  const env = { ...box.options.env, [addressesVariable]: '{"starts":[],"alsoLocal":true}' };
  const empty =
    /^This emulator is empty: it contains none of the objects of shop\/prod \(1 in its state\)/;
  await expect(runDrift({ ...box.options, env })).rejects.toThrow(empty);
  await expect(box.repair({ env, apply: true })).rejects.toThrow(empty);
  await box.control.byHand("POST", "/channels", channel("custom.other"));
  expect((await runDrift({ ...box.options, env })).deleted).toMatchObject([{ id }]);
});

test("import beside a run: what it is making is left to it", async () => {
  const { box } = await runAtWork();
  const { left, taken } = await runImport(box.options);
  expect(taken.map(({ object }) => object.wire.type)).toEqual(["custom.hand"]);
  expect(left.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("the state already contains the object"),
    expect.stringContaining("an unfinished run of this stack created the object (shop/prod begun)"),
  ]);
});
