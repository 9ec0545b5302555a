import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { accessService } from "../../../cli/inventory/open-account.js";
import { type AccountReading, readAccount } from "../../../cli/inventory/read-account.js";
import { startEmulator } from "../../../emulator/index.js";
import { waitOutRefusals } from "../../../provider/pacing/pacer.js";
import { channel } from "../../../provider/resources/channel.js";
import { resources } from "../../../provider/resources/index.js";
import { connectService } from "../../../provider/service/connect.js";
import type { WireObject } from "../../../provider/service/lists.js";
import { readSettings } from "../../../provider/service/settings.js";
import { kindOf } from "../../emulator/running.js";
import { connected } from "../../service/support/connected.js";
import { type Handler, json } from "../../service/support/fake-hub.js";
import { withoutPace } from "../../support/cli-project.js";
import { settingsOf } from "../../support/emulated.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { roleOf } from "../../support/forms.js";

/** An emulator on the real clock, as changes of others happen while lists are under way. */
const hub = async () => {
  const emulator = await startEmulator();
  const settings = settingsOf(emulator, {});
  const connect = () => {
    const service = connectService(settings, {
      pace: waitOutRefusals(),
      retry: { retries: 1, minTimeoutMs: 1 },
    });
    onTestFinished(() => service.close());
    return service;
  };
  onTestFinished(() => emulator.close());
  const people = connect();
  const make = async (kind: string, body: WireObject) =>
    (await people.create(kindOf(kind), body)).id;
  const makeChannel = (type: string) => make("Channel", { type, displayName: "Web", icon: "aVZC" });
  /** An account on a channel, and the least that it needs. */
  const makeAccount = async (channel: string) => {
    const agent = await make("ClientApplication", { name: "desk", roles: [roleOf("customer")] });
    const applications = { agentConfiguration: { agents: [{ id: agent }] } };
    const orchestration = await make("Orchestration", { name: "flow", applications });
    const chatConfigurations = { orchestration: { id: orchestration }, entryPoint: { id: "1" } };
    return make("Account", {
      name: "shop",
      address: "1",
      channel: { id: channel },
      chatConfigurations,
    });
  };
  const control = new EmulatorControl(emulator);
  return { control, makeAccount, makeChannel, session: { settings, service: connect() } };
};

const idsOf = ({ kinds }: AccountReading, kind: string): readonly string[] =>
  kinds.flatMap((each) => (each.definition.kind === kind ? [...each.objects.keys()] : []));

const lists = async (control: EmulatorControl): Promise<readonly string[]> =>
  (await control.log())
    .filter(({ method, template }) => method === "GET" && !template.includes("{"))
    .map(({ template }) => template);

test("every kind comes in setup order, by lists alone, each page once", async () => {
  const { control, makeChannel, session } = await hub();
  for (let count = 0; count < 27; count++) await makeChannel(`custom.${count}`);
  const reading = await readAccount(session);
  expect(reading.kinds.map(({ definition }) => definition.kind)).toEqual(
    resources.map(({ kind }) => kind),
  );
  expect(idsOf(reading, "Channel")).toHaveLength(27);
  expect(reading).toMatchObject({ consistent: true, baseUrl: session.settings.baseUrl });
  expect(Date.parse(reading.readAt)).not.toBeNaN();
  const calls = await lists(control);
  expect(calls).toHaveLength(resources.length + 1);
  expect((await control.log()).filter(({ method }) => method === "GET")).toHaveLength(calls.length);
});

test("where nothing can be read the first reason is thrown", async () => {
  const { session, control } = await hub();
  for (const { collection } of resources)
    await control.faults({ on: `GET /${collection}`, kind: "forbidden-list" });
  await expect(readAccount(session)).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("an object made while lists are under way is read with what it refers to", async () => {
  const { session, control, makeAccount, makeChannel } = await hub();
  const made = Promise.withResolvers<void>();
  const { list } = session.service;
  vi.spyOn(session.service, "list").mockImplementation(async (definition, options) => {
    if (definition.collection === "accounts") await made.promise;
    return list(definition, options);
  });
  const reading = readAccount(session);
  while (!(await lists(control)).includes("/channels")) await sleep(5);
  const channel = await makeChannel("custom.web");
  const id = await makeAccount(channel);
  made.resolve();
  const { consistent, kinds } = await reading;
  expect(consistent).toBe(true);
  expect(idsOf(await reading, "Channel")).toEqual([channel]);
  expect(idsOf(await reading, "Account")).toEqual([id]);
  expect(kinds).toHaveLength(resources.length);
});

test("a reference to what was never there is no change", async () => {
  const { session, control, makeAccount } = await hub();
  await control.control("PUT", "/switches", { unknownReference: "accept" });
  const gone = "0".repeat(36);
  await makeAccount(gone);
  const reading = await readAccount(session);
  expect(reading.consistent).toBe(true);
});

test("a cancelled reading ends at once", async () => {
  const { session, control } = await hub();
  await control.faults({ on: "GET /accounts", kind: "delay", ms: 5000 });
  const cancel = new AbortController();
  const reading = readAccount(session, { signal: cancel.signal });
  cancel.abort();
  await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
});

const nowhere = {
  CONVERSATION_BASE_URL: "http://127.0.0.1:1/conversation/v3",
  CONVERSATION_TOKEN_URL: "http://127.0.0.1:1/token",
  CONVERSATION_CLIENT_ID: "client",
  CONVERSATION_CLIENT_SECRET: "not-a-real-secret",
  ...withoutPace,
};

const refusal = /no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\).* Trying again\.$/;

test("a service that does not answer is reported at once, and once for all calls", async () => {
  const settings = readSettings({ environment: nowhere, config: () => undefined });
  const ended = new AbortController();
  const said: (readonly string[])[] = [];
  const say = (text: string, about: string): void => {
    said.push([text, about]);
    setImmediate(() => ended.abort());
  };
  const access = accessService(settings, { environment: {}, say, signal: ended.signal });
  await expect(readAccount(access, { signal: ended.signal })).rejects.toThrow(/canceled/);
  await access.close();
  expect(said).toEqual([[expect.stringMatching(refusal), "failure"]]);
});

const seed = Number(process.env.MOVING_SEED ?? 20_261_122);
const runs = Number(process.env.MOVING_RUNS ?? 60);

type Change = "remove" | "add" | "none";

/** A service whose channels come and go before each page of them, and what they were at each moment. */
const movingService = (total: number, size: number, changes: readonly Change[]) => {
  let present = Array.from({ length: total }, (_, index) => `c${index}`);
  const moments = [present];
  let calls = 0;
  const change = (): void => {
    const what = changes[calls - 1];
    if (what === "remove") present = present.filter((_, place) => place !== calls % 3);
    if (what === "add") present = [...present, `late-${calls}`];
    moments.push(present);
  };
  const handler: Handler = (seen, ...rest) => {
    const kind = resources.find(({ collection }) => seen.path.startsWith(`/${collection}`));
    const isChannels = seen.path.split("?")[0]?.endsWith("/channels");
    const pagenum = Number(/\$pagenum=(\d+)/.exec(seen.path)?.[1] ?? 1);
    if (isChannels && calls++ > 0) change();
    const all = isChannels ? present : [];
    const items = all.slice((pagenum - 1) * size, pagenum * size).map((id) => ({ id }));
    const paginationInfo = { count: all.length, pagenum, pagesize: size };
    json(200, { paginationInfo, [kind?.listKey ?? ""]: items })(seen, ...rest);
  };
  return { handler, moments };
};

test("what is called consistent was there at one moment, whatever comes and goes between the pages", async () => {
  const change = fc.constantFrom<Change>("remove", "add", "none", "none", "none");
  let consistent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 2, max: 7 }),
      fc.array(change, { maxLength: 12 }),
      async (total, size, changes) => {
        const { handler, moments } = movingService(total, size, changes);
        await using live = await connected(handler);
        const reading = await readAccount({ settings: live.hub.settings(), service: live.service });
        const found = reading.kinds.find(({ definition }) => definition === channel);
        if (!reading.consistent || found?.problem) return;
        consistent += 1;
        const ids = [...(found?.objects.keys() ?? [])].toSorted();
        expect(moments.map((ids) => ids.toSorted())).toContainEqual(ids);
      },
    ),
    { numRuns: runs, seed },
  );
  expect(consistent).toBeGreaterThan(runs / 4);
});
