import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { diagnose } from "../../../cli/doctor/diagnose.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { runForecast } from "../../../cli/forecast/run-forecast.js";
import { stateStanding } from "../../../cli/inventory/objects-elsewhere.js";
import type { StateResource } from "../../../cli/pulumi/stack-documents.js";
import { startEmulator } from "../../../emulator/index.js";
import { typeToken } from "../../../provider/kernel/type-tokens.js";
import { resources } from "../../../provider/resources/index.js";
import { recordedSession } from "../session.js";
import { managedStack, stackSandbox } from "./stack-sandbox.js";

const emptyService = async () => {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  return emulator;
};

const channel = { type: "custom.chat", displayName: "Chat", icon: "aVZC" };

/** A stack with a channel at one emulator, whose settings lead to that one or to another. */
const stackAt = async (where: "its own" | "another") => {
  const sandbox = await stackSandbox();
  await sandbox.up("Channel", "chat", channel);
  sandbox.write();
  const { folder, env } = sandbox.options;
  const other = where === "another" ? emulatorEnvironment(await emptyService()) : {};
  return { folder, env: { ...env, ...other, CONVERSATION_PLAN: "enterprise" } };
};

const objectsCheck = async (where: Parameters<typeof stackAt>[0]) => {
  const { ok, checks } = await diagnose(await stackAt(where));
  return { ok, check: checks.find(({ name }) => name === "stack-objects") };
};

test("doctor says that the stack's objects are at another service, and what to do", async () => {
  const { ok, check } = await objectsCheck("another");
  expect(ok).toBe(false);
  expect(check).toMatchObject({ status: "fail" });
  expect(check?.message).toMatch(
    /^the objects in the state were not found at http:\S+ \(checked: Channel "chat"\)\. Either the stack was deployed to another service/,
  );
  expect(check?.advice).toContain("correct baseUrl");
  expect(await objectsCheck("its own")).toMatchObject({ check: { status: "ok" } });
});

test("forecast warns of it, and says nothing where they are there", async () => {
  const said = async (where: Parameters<typeof stackAt>[0]): Promise<string> => {
    const { folder, env } = await stackAt(where);
    const { session, written } = recordedSession();
    const { text } = await runForecast({ operation: "up" }, session, env, folder);
    expect(text).toContain("pulumi up: no calls");
    return written.err;
  };
  expect(await said("another")).toMatch(
    /^warning: the objects in the state were not found at\s+http:/m,
  );
  expect(await said("its own")).toBe("");
});

test("a forecast needs neither settings nor a service that answers", async () => {
  const { folder, env } = await stackAt("its own");
  for (const change of [
    { CONVERSATION_BASE_URL: "" },
    { CONVERSATION_BASE_URL: "http://127.0.0.1:1/v3" },
  ]) {
    const { session, written } = recordedSession();
    await runForecast({ operation: "up" }, session, { ...env, ...change }, folder);
    expect(written.err).toBe("");
  }
});

const id = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Resources of a state, and which of them are in the service. */
const states = fc.array(
  fc.record({
    kind: fc.constantFrom(...resources.map(({ kind }) => kind), "Ownership"),
    isThere: fc.boolean(),
    profile: fc.constantFrom(undefined, "other"),
    external: fc.boolean(),
  }),
  { maxLength: 8 },
);

test("whatever a state holds, three calls at most decide; one object that is there is enough", async () => {
  const stack = await managedStack();
  const made = await stack.up("Channel", "chat", channel);
  const check = async (all: typeof states extends fc.Arbitrary<infer T> ? T : never) => {
    const held = all.map(
      ({ kind, isThere, profile, external }, at): StateResource => ({
        urn: `urn:pulumi:prod::shop::${typeToken(kind)}::r${at}`,
        type: typeToken(kind),
        id: kind === "Channel" && isThere ? made : id(at),
        inputs: profile ? { profile } : {},
        external,
      }),
    );
    const own = held.filter(
      ({ type, inputs, external }) =>
        type !== typeToken("Ownership") && !inputs?.profile && !external,
    );
    const before = (await stack.control.log()).length;
    const { asked, problem } = await stateStanding(held, stack.settings, { env: {} });
    const calls = (await stack.control.log())
      .slice(before)
      .filter(({ method }) => method === "GET");
    expect(calls.length).toBeLessThanOrEqual(3);
    expect(asked > 0).toBe(own.length > 0);
    if (own.length === 0 || own.every((each) => each.id === made)) expect(problem).toBeUndefined();
    if (own.length > 0 && own.every((each) => each.id !== made))
      expect(problem).toContain("not found at");
  };
  await fc.assert(fc.asyncProperty(states, check), { seed: 6, numRuns: 40 });
});
