import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { savedAccount, savedAccountIn } from "../../../cli/account/object-inputs.js";
import {
  type AccountReading,
  type ReadingProgress,
  readAccount,
} from "../../../cli/account/read-account.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { startEmulator } from "../../../emulator/index.js";
import { resources } from "../../../provider/resources/index.js";
import { connectService } from "../../../provider/service/connect.js";
import type { WireObject } from "../../../provider/service/lists.js";
import { readSettings } from "../../../provider/service/settings.js";
import { EmulatorControl } from "../../support/emulator-control.js";

const definitionOf = (kind: string) => {
  const found = resources.find((definition) => definition.kind === kind);
  if (!found) throw new Error(kind);
  return found;
};

/** An emulator on the real clock, as changes of others happen while lists are under way. */
const hub = async (environment: Readonly<Record<string, string>> = {}) => {
  const emulator = await startEmulator();
  const settings = readSettings({
    environment: { ...emulatorEnvironment(emulator), ...environment },
    config: () => undefined,
  });
  const connect = () => {
    const service = connectService(settings, { retry: { retries: 1, minTimeoutMs: 1 } });
    onTestFinished(() => service.close());
    return service;
  };
  onTestFinished(() => emulator.close());
  const people = connect();
  const make = async (kind: string, body: WireObject) =>
    (await people.create(definitionOf(kind), body)).id;
  const makeChannel = (type: string) => make("Channel", { type, displayName: "Web", icon: "aVZC" });
  const control = new EmulatorControl(emulator);
  return {
    emulator,
    control,
    make,
    makeChannel,
    people,
    session: { settings, service: connect() },
  };
};

const idsOf = ({ kinds }: AccountReading, kind: string): readonly string[] =>
  kinds.flatMap((each) => (each.definition.kind === kind ? [...each.objects.keys()] : []));

const lists = async (control: EmulatorControl): Promise<readonly string[]> =>
  (await control.log())
    .filter(({ method, template }) => method === "GET" && !template.includes("{"))
    .map(({ template }) => template);

test("every kind comes in set-up order, by lists alone, each page once", async () => {
  const { control, makeChannel, session } = await hub();
  for (let count = 0; count < 12; count++) await makeChannel(`custom.${count}`);
  const reading = await readAccount(session);
  expect(reading.kinds.map(({ definition }) => definition.kind)).toEqual(
    resources.map(({ kind }) => kind),
  );
  expect(idsOf(reading, "Channel")).toHaveLength(12);
  expect(reading).toMatchObject({
    consistent: true,
    openEnds: [],
    baseUrl: session.settings.baseUrl,
  });
  expect(Date.parse(reading.readAt)).not.toBeNaN();
  const calls = await lists(control);
  expect(calls).toHaveLength(resources.length + 1);
  expect((await control.log()).filter(({ method }) => method === "GET")).toHaveLength(calls.length);
});

test("a kind that may not be listed is there with the reason, and the others with their objects", async () => {
  const { emulator, control, makeChannel } = await hub();
  const id = await makeChannel("custom.web");
  const scope = "app.conversation.conversationmgr.read";
  const reader = { clientId: "reader", clientSecret: "reader-secret", scopes: [scope] };
  await control.control("POST", "/clients", reader);
  const settings = readSettings({
    environment: {
      ...emulatorEnvironment({ ...emulator, ...reader }),
      CONVERSATION_SCOPE: scope,
    },
    config: () => undefined,
  });
  const service = connectService(settings);
  onTestFinished(() => service.close());
  const reading = await readAccount({ settings, service });
  const [authentications, ...others] = reading.kinds;
  expect(authentications?.problem).toContain("scope");
  expect(authentications?.error?.code).toBe("FORBIDDEN");
  expect(others.filter(({ problem }) => problem !== undefined)).toEqual([]);
  expect(idsOf(reading, "Channel")).toEqual([id]);
});

test("where nothing can be read the first reason is thrown", async () => {
  const { session, control } = await hub();
  for (const { collection } of resources)
    await control.faults({ on: `GET /${collection}`, kind: "forbidden-list" });
  await expect(readAccount(session)).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("an object made while lists are under way is read with what it refers to", async () => {
  const { session, control, make, makeChannel } = await hub();
  await control.faults({ on: "GET /accounts", kind: "delay", ms: 400 });
  const reading = readAccount(session);
  while (!(await lists(control)).includes("/channels")) await sleep(5);
  const channel = await makeChannel("custom.web");
  const account = { name: "shop", address: "1", channel: { id: channel }, chatConfigurations: {} };
  const id = await make("Account", account);
  const { consistent, openEnds, kinds } = await reading;
  expect({ consistent, openEnds }).toEqual({ consistent: true, openEnds: [] });
  expect(idsOf(await reading, "Channel")).toEqual([channel]);
  expect(idsOf(await reading, "Account")).toEqual([id]);
  expect(kinds).toHaveLength(resources.length);
});

test("an account that goes on changing is said to be no answer of one moment", async () => {
  const { session, make, makeChannel } = await hub();
  const channel = await makeChannel("custom.web");
  await make("Account", {
    name: "shop",
    address: "1",
    channel: { id: channel },
    chatConfigurations: {},
  });
  // Every list of the channels lacks the one in use, and shows another one.
  let count = 0;
  const { service } = session;
  const changing = {
    ...session,
    service: {
      ...service,
      list: async (...args: Parameters<typeof service.list>) => {
        const listing = await service.list(...args);
        if (args[0].kind !== "Channel") return listing;
        count += 1;
        const objects = new Map([...listing.objects].filter(([id]) => id !== channel));
        return { ...listing, objects: objects.set(`other-${count}`, { id: `other-${count}` }) };
      },
    },
  };
  const reading = await readAccount(changing);
  expect(reading.consistent).toBe(false);
  expect(reading.openEnds).toMatchObject([{ path: "channel", id: channel }]);
  expect(count).toBe(3);
});

test("a reference to what was never there is told, and no change", async () => {
  const { session, control, make } = await hub();
  await control.control("PUT", "/switches", { unknownReference: "accept" });
  const gone = "0".repeat(36);
  await make("Account", {
    name: "shop",
    address: "1",
    channel: { id: gone },
    chatConfigurations: {},
  });
  const reading = await readAccount(session);
  expect(reading.consistent).toBe(true);
  expect(reading.openEnds).toMatchObject([{ path: "channel", id: gone }]);
});

test("what is left is told page by page, in time at the rate of the plan", async () => {
  const { session, makeChannel } = await hub({ CONVERSATION_PLAN: "developer" });
  for (let count = 0; count < 25; count++) await makeChannel(`custom.${count}`);
  const told: ReadingProgress[] = [];
  await readAccount(session, { onProgress: (progress) => void told.push(progress) });
  expect(told.at(-1)).toMatchObject({ objects: 25, callsLeft: 0, kindsDone: 6, kinds: 6 });
  expect(told.at(-1)?.remainingMs).toBe(0);
  expect(Math.max(...told.map(({ remainingMs }) => remainingMs))).toBeGreaterThan(5000);
});

test("a cancelled reading ends at once", async () => {
  const { session, control } = await hub();
  await control.faults({ on: "GET /accounts", kind: "delay", ms: 5000 });
  const cancel = new AbortController();
  const reading = readAccount(session, { signal: cancel.signal });
  cancel.abort();
  await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a saved reading holds every object and no secret", async () => {
  const { session, control, make } = await hub();
  await control.control("PUT", "/switches", { secrets: "echo" });
  const basicAuth = { username: "hub", password: "canary-1" };
  await make("Authentication", { name: "basic", type: "basic", basicAuth });
  const oauth2 = { payload: "canary-2", headers: [{ name: "X-Key", value: "canary-3" }] };
  await make("Authentication", { name: "oauth", type: "oauth2", oauth2, later: "canary-4" });
  const text = JSON.stringify(savedAccount(await readAccount(session)));
  expect(text).not.toContain("canary");
  const kept = savedAccountIn(text);
  expect(kept?.kinds[0]?.objects).toMatchObject([
    { name: "basic", basicAuth: { username: "hub" } },
    { name: "oauth", oauth2: { headers: [{ name: "X-Key" }] } },
  ]);
  expect(kept?.kinds.map(({ kind }) => kind)).toEqual(resources.map(({ kind }) => kind));
  expect(savedAccountIn(text.replace('"Channel"', '"Chanel"'))).toBeUndefined();
  expect(savedAccountIn("{}")).toBeUndefined();
});
