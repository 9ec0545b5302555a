import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { naturalKey, referencesOf } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/pulumi.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import { readSettings } from "../../provider/service/settings.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { oauth2 } from "../support/forms.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

const reasonsOf = async (kind: string, inputs: Json, olds: Json = {}): Promise<string> =>
  (await hub.of(kind).check(olds, inputs)).failures.map(({ reason }) => reason).join("\n");

const unique = resources.filter((definition) => {
  const field = definition.fields[naturalKey(definition)];
  return field?.type === "text" && field.unique;
});

test.each(unique.map(({ kind }) => kind))(
  "a preview refuses one unique name for two resources of the kind %s, and names both",
  async (kind) => {
    const { inputs } = (await oneOfEach(steps)).get(kind) as MadeKind;
    hub.nextRun();
    expect(await reasonsOf(kind, { ...inputs, owner: "shop/prod/1/first" })).toBe("");
    const refused = await reasonsOf(kind, { ...inputs, owner: "shop/prod/1/second" });
    expect(refused).toContain(`${kind} "first"`);
    expect(refused).toContain(`${kind} "second"`);
    expect(await reasonsOf(kind, { ...inputs, owner: "shop/prod/1/first" })).toBe("");
    const elsewhere = { ...inputs, owner: "shop/prod/1/third", profile: "us" };
    expect(await reasonsOf(kind, elsewhere)).toBe("");
  },
);

describe("an id of another kind of the same program", () => {
  const cases = resources.flatMap((definition) =>
    referencesOf(definition).map(({ path, to }) => ({ kind: definition.kind, path, to })),
  );

  test.each(cases)("$kind $path is refused in the preview", async ({ kind, to }) => {
    const all = await oneOfEach(steps);
    const wrong = [...all.values()].find((made) => made.kind !== to.kind) as MadeKind;
    const right = all.get(to.kind) as MadeKind;
    const { inputs } = all.get(kind) as MadeKind;
    const spoiled = JSON.parse(JSON.stringify(inputs).replaceAll(right.id, wrong.id)) as Json;
    expect(await reasonsOf(kind, spoiled)).toContain(`${to.noun}; ${wrong.id} is ${wrong.kind}`);
  });
});

test("what only the service sets is refused in a program", async () => {
  const { failures } = await hub.of("Channel").check({}, { ...kiosk(), id: "7f", modified: "now" });
  expect(failures.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^id is set by the service.* adopt /),
    expect.stringMatching(/^modified is set by the service/),
  ]);
});

test.each<[string, Json, RegExp]>([
  ["a field", { displayName: 5 }, /displayName must be a string, not a number/],
  ["an option", { profile: "no profile" }, /profile must be up to 64/],
  ["a name", { extra: { "": 1 } }, /extra is not a property of Channel/],
])("what a policy has spoiled since the check is refused unsent: %s", async (_, spoiled, fault) => {
  const channels = hub.of("Channel");
  const given = await steps.checked("Channel", kiosk());
  await expect(channels.create({ ...given, ...spoiled })).rejects.toThrow(fault);
  const { id, state } = await steps.make("Channel", kiosk());
  await hub.calls();
  await expect(channels.update(id, state, { ...given, ...spoiled })).rejects.toThrow(fault);
  const refusal = /A policy may have changed .* Nothing was sent\./;
  await expect(channels.update(id, state, { ...given, ...spoiled })).rejects.toThrow(refusal);
  expect(await hub.calls()).toEqual([]);
});

test("a value that is unknown in a real run is refused, not left out", async () => {
  const { inputs } = (await oneOfEach(steps)).get("Channel") as MadeKind;
  const { displayName: _, ...others } = inputs;
  expect(await reasonsOf("Channel", { ...others, unknownPaths: ["displayName"] })).toContain(
    'displayName has no value: it comes from a resource that "up --target" skipped, here or in another stack',
  );
});

test("a policy may give what a program may, and moves no object to another account", async () => {
  const given = await steps.checked("Authentication", owned("auth", { name: "auth", oauth2 }));
  const { id } = await hub.of("Authentication").create({ ...given, oauth2 });
  const [made] = await hub.objects("authentications");
  expect(made).toMatchObject({ id, oauth2: { payload: '{"grant":"x"}' } });
  const moved = { ...given, profile: "other" };
  const update = hub.of("Authentication").update(id, given, moved);
  await expect(update).rejects.toThrow(/profile cannot change from the default to other/);
});

test.each(resources.map((definition) => definition))(
  "no refused value that a program marks as secret is shown: $kind",
  async ({ kind, fields }) => {
    const { inputs } = (await oneOfEach(steps)).get(kind) as MadeKind;
    const wrong = ["canary wrong value", `canary-${"x".repeat(2000)}`, { key: "canary value" }];
    let quoted = 0;
    for (const place of placesIn(inputs)) {
      const [top] = place;
      const field = typeof top === "string" ? fields[top] : undefined;
      if (typeof top !== "string" || !field || field.secret) continue;
      for (const value of wrong) {
        const given = changedAt(inputs, place, value) as Json;
        const marked = await reasonsOf(kind, { ...given, markedSecrets: [top] });
        expect({ place, marked }).toEqual({
          place,
          marked: expect.not.stringMatching(/canary[ -]/),
        });
        if (/canary[ -]/.test(await reasonsOf(kind, given))) quoted += 1;
      }
    }
    // Otherwise there was nothing to hide.
    expect(quoted).toBeGreaterThan(0);
  },
);

const environmentOf = (change: Record<string, string | undefined>) => ({
  ...emulatorEnvironment(hub.emulator),
  ...change,
});

const checkedWith = async (environment: Record<string, string | undefined>, olds: Json = {}) => {
  const reported: string[] = [];
  const settings = (profile?: string) =>
    readSettings({ environment, config: () => undefined }, profile);
  const run = createRun(
    async () => {
      throw new Error("no connection is needed");
    },
    { settings, notify: (text) => void reported.push(text) },
  );
  const { failures } = await lifecycle(channel, run).check(olds, kiosk());
  return { reasons: failures.map(({ reason }) => reason).join(), reported: reported.join() };
};

test.each([
  { CONVERSATION_PLAN: "developr" },
  { CONVERSATION_BASE_URL: "https://hub.example.com/v2" },
  { CONVERSATION_SHARE: "2" },
])("settings that cannot be used are refused in the preview: %j", async (change) => {
  const [name] = Object.keys(change);
  const { reasons } = await checkedWith(environmentOf(change));
  expect(reasons).toContain(name);
});

test("profiles that share their variables are refused in the preview", async () => {
  expect(await reasonsOf("Channel", { ...kiosk(), profile: "my-eu" })).toBe("");
  expect(await reasonsOf("Channel", { ...kiosk(), profile: "my_eu" })).toContain(
    'The profiles "my-eu" and "my_eu" would both use',
  );
});

test("settings that are missing are a warning in the preview", async () => {
  const { reasons, reported } = await checkedWith(
    environmentOf({ CONVERSATION_CLIENT_SECRET: undefined }),
  );
  expect(reasons).toBe("");
  expect(reported).toContain("CONVERSATION_CLIENT_SECRET");
  expect(reported).toMatch(/ -- <command>\nThe preview continues/);
});

test("a resource that does not change needs no settings", async () => {
  const { inputs } = await hub.of("Channel").check({}, kiosk());
  expect(await checkedWith({ CONVERSATION_PLAN: "no such plan" }, { ...inputs })).toEqual({
    reasons: "",
    reported: "",
  });
});

test("a name that the service may refuse is a warning, unless the object has it", async () => {
  const bot = { name: "orders/bot", type: "basic", basicAuth: { username: "hub", password: "p" } };
  expect(await reasonsOf("Authentication", owned("bot", bot))).toBe("");
  expect(hub.reported).toEqual([expect.stringContaining("400-414")]);
  hub.nextRun();
  const changed = owned("bot", { ...bot, description: "Orders" });
  expect(await reasonsOf("Authentication", changed, owned("bot", bot))).toBe("");
  expect(hub.reported).toEqual([]);
});

test("a stack's first preview, which knows no owner, tells resources apart by their logical names", async () => {
  const nameless = (logicalName: string) => ({ ...kiosk(), owner: unknownValue, logicalName });
  const channels = hub.of("Channel");
  const { inputs } = await channels.check({}, nameless("first"));
  expect(inputs).not.toHaveProperty("logicalName");
  expect(await reasonsOf("Channel", nameless("second"))).toContain('Channel "first" also has');
  expect(await reasonsOf("Channel", nameless("first"))).toBe("");
});

test.each([
  ["Größe", 1],
  ["a/b", 1],
  ["Shop_1 - web", 0],
])("preview warns of a name such as %s, once, and never refuses it", async (name, warnings) => {
  hub.nextRun();
  const application = "8a7d1c02-3f55-4f0a-9d7e-2b6c9e1f4a21";
  const inputs = owned("bot", { name, type: "custom_bot", application });
  const participant = hub.of("Participant");
  const { inputs: first, failures } = await participant.check({}, inputs);
  await participant.check({ ...first }, inputs);
  expect(failures).toEqual([]);
  expect(hub.reported.map((text) => /characters other/.test(text))).toEqual(
    Array.from({ length: warnings }, () => true),
  );
});

test("a name that was made for a resource once stays", async () => {
  const inputs = { type: "custom_bot", application: "8a7d1c02-3f55-4f0a-9d7e-2b6c9e1f4a21" };
  const made = {
    ...inputs,
    name: "orders-1a2b3c4",
    autoName: "orders-1a2b3c4",
    owner: "shop/prod/1/o",
  };
  const first = await hub.of("Participant").check({}, made);
  expect(first.inputs).not.toHaveProperty("autoName");
  const later = { ...made, name: "orders-5d6e7f8", autoName: "orders-5d6e7f8" };
  const second = await hub.of("Participant").check({ ...first.inputs }, later);
  expect(second.inputs.name).toBe(first.inputs.name);
  // A transform leaves the automatic name beside its own.
  for (const given of [inputs, later]) {
    const named = await hub
      .of("Participant")
      .check({ ...first.inputs }, { ...given, name: "mine" });
    expect(named.inputs.name).toBe("mine");
  }
});
