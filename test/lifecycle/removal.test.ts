import { afterEach, beforeEach, expect, test } from "vitest";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { handedBack } from "../support/door.js";
import { type Emulated, emulated, owned, settingsOf } from "../support/emulated.js";
import { roleOf } from "../support/forms.js";
import { oneOfEach } from "./one-of-each.js";
import { basicInputs, kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);
const { checked, make } = steps;

test("the object of a resource that left the program is deleted, also after a refresh in the same run", async () => {
  const { id, state } = await make("Channel", kiosk());
  hub.nextRun();
  await hub.of("Channel").diff(
    id,
    state,
    await hub
      .of("Channel")
      .read(id, state)
      .then(({ inputs }) => inputs ?? {}),
  );
  await hub.of("Channel").delete(id, state);
  expect(await hub.objects("channels")).toEqual([]);
});

test("of two resources with one object, each in a process of its own, the one that stayed deletes it", async () => {
  const { id, state } = await make("Channel", kiosk());
  const kept = { ...state, owner: "shop/prod/fedcba9876543210/kiosk" };
  const held = [
    { kind: "Channel", id, owner: kept.owner },
    { kind: "Channel", id, owner: String(state.owner), leaving: true },
  ] as const;
  hub.nextRun(held);
  await hub.of("Channel").delete(id, state);
  expect(await hub.objects("channels")).toHaveLength(1);
  hub.nextRun(held);
  await hub.of("Channel").delete(id, kept);
  expect(await hub.objects("channels")).toEqual([]);
});

test.each([true, false])(
  "a replacement that moves to the account of another profile deletes first what that account lacks (other account: %s)",
  async (isOther) => {
    const other = isOther ? await emulated() : hub;
    const { id, state } = await make("Channel", kiosk());
    const run = createRun(async (profile) => {
      const { service, emulator } = profile === "us" ? other : hub;
      return { service, settings: settingsOf(emulator) };
    });
    const cycle = lifecycle(channel, run);
    const { inputs, failures } = await cycle.check({}, { ...kiosk(), profile: "us" });
    expect(failures).toEqual([]);
    await cycle.delete(id, state);
    const made = await cycle.create(handedBack(inputs));
    expect((await other.objects("channels")).map((each) => each.id)).toEqual([made.id]);
    expect((await hub.objects("channels")).map((each) => each.id)).toEqual(isOther ? [] : [id]);
    if (isOther) await other.stop();
  },
);

test("of two resources with one object that one process deletes, the second deletes it", async () => {
  const { id, state } = await make("Channel", kiosk());
  const other = { ...state, owner: "shop/prod/0123456789abcdef/other" };
  hub.nextRun([state, other].map(({ owner }) => ({ kind: "Channel", id, owner: String(owner) })));
  await hub.of("Channel").delete(id, state);
  expect(await hub.objects("channels")).toHaveLength(1);
  await hub.of("Channel").delete(id, other);
  expect(await hub.objects("channels")).toEqual([]);
});

test("the old half of an interrupted replacement leaves the object to the new one", async () => {
  const { id, state } = await make("Channel", kiosk());
  const half = { kind: "Channel", id, owner: String(state.owner) } as const;
  hub.nextRun([half, { ...half, leaving: true }]);
  await hub.of("Channel").delete(id, state);
  expect(await hub.objects("channels")).toHaveLength(1);
});

test("what a program that cannot be seen may be replacing is not deleted without the state", async () => {
  const { id, state } = await make("Channel", kiosk());
  const session = async () => ({ service: hub.service, settings: settingsOf(hub.emulator) });
  const run = createRun(session, { hidesReplacements: async () => true });
  await expect(lifecycle(channel, run).delete(id, state)).rejects.toThrow(
    "Nothing was deleted. Put pulumi on the PATH, make sure that pulumi stack ls succeeds in the program's folder (if Pulumi.yaml is not in or above it, set PULUMI_BACKEND_URL)",
  );
  expect(await hub.objects("channels")).toHaveLength(1);
});

test("an import that no run has checked keeps no object from its deletion", async () => {
  const { id, state } = await make("Channel", kiosk());
  const imported = { kind: "Channel", id, owner: "shop/prod/0123456789abcdef/other" } as const;
  const own = { ...imported, owner: String(state.owner) };
  hub.nextRun([own, { ...imported, isUnsettled: true }]);
  await hub.of("Channel").delete(id, state);
  expect(await hub.objects("channels")).toEqual([]);
});

test("the object of a resource that has another one by now is deleted", async () => {
  const { id, state } = await make("Channel", kiosk());
  // No state can be seen, so a forced replacement under another name creates an object.
  hub.nextRun();
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  await hub.of("Channel").delete(id, state);
  expect((await hub.objects("channels")).map((object) => object.id)).toEqual([other.id]);
});

test("deletions that the engine starts all at once wait for each other", async () => {
  const auth = await make("Authentication", basicInputs("first-password"));
  const app = await make(
    "ClientApplication",
    owned("app", { name: "app", roles: [roleOf("custom_bot", { authentication: auth.id })] }),
  );
  const bot = await make(
    "Participant",
    owned("bot", { name: "bot", type: "custom_bot", application: app.id }),
  );
  hub.nextRun();
  await Promise.all([
    hub.of("Authentication").delete(auth.id, auth.state),
    hub.of("ClientApplication").delete(app.id, app.state),
    hub.of("Participant").delete(bot.id, bot.state),
  ]);
  expect(await hub.objects("authentications")).toEqual([]);
});

test("by the letter of the rule a channel goes after the client applications", async () => {
  const inUse = { code: "400-113", developerMessage: "The channel is in use." };
  await hub.faults({ on: "DELETE /channels/{id}", kind: "status", status: 400, body: inUse });
  const channel = await make("Channel", kiosk());
  const app = await make(
    "ClientApplication",
    owned("app", { name: "app", roles: [roleOf("custom_bot")] }),
  );
  hub.nextRun();
  await expect(hub.of("Channel").delete(channel.id, channel.state)).rejects.toThrow(
    /No visible object refers to it\. [^.]*client application refers to a channel\. First, delete every client application that might use it/,
  );
  await Promise.all([
    hub.of("Channel").delete(channel.id, channel.state),
    hub.of("ClientApplication").delete(app.id, app.state),
  ]);
  expect(await hub.objects("channels")).toEqual([]);
});

test("a refused deletion says in whose state a user is, also after `pulumi state move`", async () => {
  const auth = await make("Authentication", basicInputs("first-password"));
  const app = await make(
    "ClientApplication",
    owned("app", { name: "app", roles: [roleOf("custom_bot", { authentication: auth.id })] }),
  );
  const held = { kind: "ClientApplication", id: app.id, owner: String(app.state.owner) };
  const refusal = async (stack?: string): Promise<string> => {
    hub.nextRun([{ ...held, ...(stack ? { stack } : {}) }]);
    const failure = hub.of("Authentication").delete(auth.id, auth.state);
    return failure.then(
      () => "",
      ({ message }: Error) => message,
    );
  };
  expect(await refusal()).toContain(`(ID ${app.id}, in this stack: `);
  expect(await refusal("other")).toContain(`(ID ${app.id}, in the state of the stack other: `);
});

test("each refused deletion names who uses the object", async () => {
  const users: Readonly<Record<string, RegExp>> = {
    Authentication: /in use by client application "orders-bot"/,
    ClientApplication: /in use by participant "orders-bot".*orchestration "orders"/,
    Participant: /in use by orchestration "orders"/,
    Channel: /in use by account "kiosk-berlin"/,
    Orchestration: /in use by account "kiosk-berlin"/,
  };
  const all = await oneOfEach(steps);
  hub.nextRun();
  for (const [kind, user] of Object.entries(users)) {
    const { id = "", state = {} } = all.get(kind) ?? {};
    await expect(hub.of(kind).delete(id, state)).rejects.toThrow(user);
  }
});

/** Acted on by terminals, and by the runners of pipelines wherever they stand in a line. */
const pieces = [
  "\u009b2J",
  "\u202e",
  "\u200b",
  "##vso[task.setvariable variable=x]",
  "##[add-mask]",
];
const active = /[\u009b\u202e\u200b]|##vso\[|##\[/;

const failureOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "nothing failed",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test.each(pieces)(
  "the name of an object in the way of a deletion is only text: %j",
  async (piece) => {
    const { id, state } = await make("Authentication", basicInputs("first-password"));
    await hub.service.create(clientApplication, {
      name: `desk${piece}`,
      roles: [roleOf("customer", { authentication: { id } })],
    });
    hub.nextRun();
    const said = await failureOf(hub.of("Authentication").delete(id, state));
    expect(said).toContain('client application "desk');
    expect(said).not.toMatch(active);
  },
);

test.each(pieces)("what the service says is only text: %j", async (piece) => {
  const inputs = await checked("Channel", kiosk());
  await hub.faults({
    on: "POST /channels",
    ...{ kind: "status", status: 400, times: 1 },
    body: { code: "400-1", developerMessage: `no ${piece} here` },
  });
  const said = await failureOf(hub.of("Channel").create(inputs));
  expect(said).toContain("no ");
  expect(said).not.toMatch(active);
});

test.each([
  ["a program may still replace", true],
  ["there is no program, as in destroy", false],
])("where %s, that the state has to be current is %s", async (_, runsProgram) => {
  const { id, state } = await make("Channel", kiosk());
  const settings = settingsOf(hub.emulator);
  const needed: boolean[] = [];
  const run = createRun(async () => ({ settings, service: hub.service }), {
    settings: () => settings,
    runsProgram: async () => runsProgram,
    states: async (_owner, _whose, suffices) => {
      needed.push(suffices !== undefined);
      return undefined;
    },
  });
  await lifecycle(channel, run).delete(id, state);
  expect([needed, await hub.objects("channels")]).toEqual([[runsProgram], []]);
});
