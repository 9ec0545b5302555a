import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ExplainedAccount,
  explain,
  type MessageRoute,
} from "../../cli/explain/explanation.js";
import { startEmulator } from "../../emulator/index.js";
import { neutralVendor } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { maySend, messageTypes } from "../../provider/resources/message-types.js";
import { type Reply, Running } from "../emulator/running.js";
import { callbackServer } from "../emulator-runtime/callback-server.js";
import { conversationIn, message, messagesIn } from "../emulator-runtime/hub.js";
import { listed, roleOf } from "../support/forms.js";

/** Objects by collection, as a snapshot of the emulator has them. */
type SetUpSnapshot = Readonly<Record<string, readonly JsonObject[]>>;

/** How many objects of each kind there are, by the letter with which their IDs begin. */
const counts = { a: 4, b: 3, c: 2, d: 3, e: 3 } as const;

type Letter = keyof typeof counts;

const idsOf = (letter: Letter): readonly string[] =>
  Array.from(
    { length: counts[letter] },
    (_, at) => `${letter}0000000-0000-4000-8000-00000000000${at}`,
  );

const roleNames = ["customer", "custom_bot", "platform_bot", "custom_agent", "platform_agent"];
const richTypes = ["listpicker", "quickreply", "authentication", "form"];
const stamps = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };

/** A random setup whose callbacks are all below one address. Its objects are mostly active. */
const randomSetUp = (draw: fc.GeneratorValue, url: string): SetUpSnapshot => {
  const pick = <T>(arbitrary: fc.Arbitrary<T>): T => draw(() => arbitrary);
  const maybe = (value: () => JsonObject): JsonObject => (pick(fc.boolean()) ? value() : {});
  const refer = (letter: Letter) => ({ id: pick(fc.constantFrom(...idsOf(letter))) });
  const make = (letter: Letter, fill: (place: number) => JsonObject): readonly JsonObject[] =>
    idsOf(letter).map((id, place) => {
      const active = pick(fc.constantFrom({}, {}, {}, {}, {}, { active: true }, { active: false }));
      return { id, ...stamps, ...active, ...fill(place) };
    });
  const limit = () => ({
    ...maybe(() => ({ features: pick(fc.subarray(["typing_events", "attachments"])) })),
    ...maybe(() => ({ richMessageTypes: pick(fc.subarray(richTypes)) })),
    ...maybe(() => ({ midChatAuth: pick(fc.boolean()) })),
  });
  const bot = () => ({
    ...refer("a"),
    participant: refer("b"),
    ...maybe(() => ({ onEscalation: { agent: refer("a") } })),
  });
  return {
    authentications: [],
    clientapplications: make("a", (place) => ({
      name: `application ${place}`,
      roles: pick(fc.subarray(roleNames, { minLength: 1 })).map((name) =>
        roleOf(name, { callback: `${url}/${place}/${name}` }),
      ),
    })),
    participants: make("b", (place) => ({
      name: `bot ${place}`,
      type: pick(fc.constantFrom("custom_bot", "platform_bot")),
      application: refer("a"),
    })),
    channels: make("c", (place) => ({
      ...{ type: `custom.c${place}`, displayName: `C${place}`, icon: "aVZC" },
      ...maybe(() => ({
        restrictions: {
          ...maybe(() => ({ inbound: limit() })),
          ...maybe(() => ({ outbound: limit() })),
        },
      })),
    })),
    orchestrations: make("d", (place) => {
      const bots = maybe(() => ({ botConfiguration: { bots: [bot()] } }));
      // The service asks for at least one agent, if there is no bot.
      const agents = () => ({ agentConfiguration: { agents: [refer("a")] } });
      const named = "botConfiguration" in bots ? maybe(agents) : agents();
      const customer = maybe(() => ({ customerConfiguration: { customer: refer("a") } }));
      return { name: `orchestration ${place}`, applications: { ...bots, ...customer, ...named } };
    }),
    accounts: make("e", (place) => ({
      name: `account ${place}`,
      address: pick(fc.constantFrom("one", "two")),
      channel: refer("c"),
      chatConfigurations: { orchestration: refer("d") },
    })),
  };
};

let service: Running;

beforeAll(async () => {
  service = new Running(await startEmulator({ clock: "manual" }));
});

afterAll(() => service[Symbol.asyncDispose]());

const put = async (objects: SetUpSnapshot): Promise<void> => {
  const snapshot = (await service.control("GET", "/snapshot")).json;
  const reply = await service.control("PUT", "/snapshot", {
    ...snapshot,
    objects,
    conversations: [],
    assets: [],
  });
  if (reply.status >= 300) throw new Error(reply.text);
};

/** Sends messages, ten in a call; the last answer, or the first refusal. */
const send = async (messages: readonly JsonObject[]): Promise<Reply> => {
  const call = { messages: { message: messages.slice(0, 10) } };
  const reply = await service.call("POST", "/conversations/messages", call);
  const rest = messages.slice(10);
  return rest.length === 0 || reply.status !== 202 ? reply : send(rest);
};

/** Both words of a side: they may send the same. */
const senders = {
  customer: ["customer"],
  bot: ["custom_bot", "platform_bot"],
  agent: ["custom_agent", "platform_agent"],
} as const;

let serial = 0;

const nextId = (): string => {
  serial += 1;
  return `m-${serial}`;
};

/** Messages of a route, one for each type, with what comes to whom. */
const messagesOf = (route: MessageRoute, conversation: string, parent: string) => {
  const sender = senders[route.from][serial % senders[route.from].length] ?? "customer";
  return route.types.map((type) => {
    return message(conversation, sender, type, {
      messageId: nextId(),
      ...(type === "delete.soft" ? { parent: { id: parent } } : {}),
    });
  });
};

type Delivered = readonly [messageId: string, url: string, isReached: boolean];

const predicted = ({ to }: MessageRoute, messages: readonly JsonObject[]): readonly Delivered[] =>
  messages.flatMap(({ messageId }) =>
    to.map(
      ({ callback = "", unreached }): Delivered => [
        String(messageId),
        unreached === undefined ? callback : "",
        unreached === undefined,
      ],
    ),
  );

const logged = async (entries: number): Promise<readonly Delivered[]> => {
  for (let round = 0; ; round += 1) {
    const { items } = (await service.control("GET", "/deliveries")).json;
    const log = Array.isArray(items) ? items.filter(isObject) : [];
    // Once more after the last one is there, so that one too many is seen.
    if (log.length >= entries && round > 0) {
      return log.map(({ messageId, url, attempt }) => [
        String(messageId),
        String(url),
        attempt !== 0,
      ]);
    }
    if (round > 20_000) throw new Error(`${log.length} deliveries in place of ${entries}`);
    await pause(log.length >= entries ? 2 : 5);
  }
};

const start = (account: ExplainedAccount) =>
  send([
    {
      messageId: nextId(),
      type: { value: "text" },
      content: { text: "Hello" },
      conversation: {
        account: { channel: { type: account.channel }, address: account.address },
        customer: { name: "Ada" },
      },
      sender: { type: "customer" },
    },
  ]);

/** Walks a conversation through every route; what the emulator delivered must be what was said. */
const walk = async (account: ExplainedAccount): Promise<void> => {
  const wanted: Delivered[] = [];
  const first = await start(account);
  expect(first.status).toBe(202);
  const conversation = conversationIn(first);
  const [sent] = messagesIn(first);
  const parent = String(sent?.id);
  const main = account.routes.find(
    ({ phase, from, types }) =>
      phase === account.begins && from === "customer" && types.includes("text"),
  );
  if (main) wanted.push(...predicted(main, [sent ?? {}]));
  const take = async (route: MessageRoute) => {
    const messages = messagesOf(route, conversation, parent);
    expect((await send(messages)).status).toBe(202);
    wanted.push(...predicted(route, messages));
  };
  // What no route carries is refused.
  for (const [from, routes] of Map.groupBy(account.routes, (route) => route.from))
    for (const type of messageTypes) {
      const [sender] = senders[from];
      const isCarried = routes.some(({ types }) => types.includes(type));
      if (!maySend(sender, type) || isCarried) continue;
      expect((await send([message(conversation, sender, type)])).status).toBe(400);
    }
  for (const phase of ["bot", "agent"] as const) {
    const routes = account.routes.filter((route) => route.phase === phase);
    for (const route of routes.filter(({ leadsTo }) => leadsTo === undefined)) await take(route);
    const on = routes.find(({ leadsTo }) => leadsTo === (phase === "bot" ? "agent" : "ended"));
    if (on) await take(on);
  }
  const order = (all: readonly Delivered[]) => [...all].map((each) => each.join(" ")).sort();
  expect(order(await logged(wanted.length))).toEqual(order(wanted));
};

const check = async (objects: SetUpSnapshot): Promise<void> => {
  const { accounts } = explain(listed(objects), neutralVendor, "test");
  for (const account of accounts) {
    await put(objects);
    if (account.inUse) await walk(account);
    else {
      const other = accounts.find(
        ({ inUse, address, channel }) =>
          inUse && address === account.address && channel === account.channel,
      );
      expect((await start(account)).status).toBe(other ? 202 : 400);
    }
    const isLost = account.routes.some(
      ({ phase, from, to }) =>
        account.inUse &&
        phase === account.begins &&
        from === "customer" &&
        to.every(({ unreached }) => unreached),
    );
    if (isLost)
      expect(account.deadEnds.join()).toContain("a new conversation reaches no recipient");
  }
};

const numRuns = Number(process.env.EXPLAIN_RUNS ?? 25);

test("what is said of random accounts is what the emulator delivers", {
  timeout: 600_000 + numRuns * 4000,
}, async () => {
  const server = await callbackServer();
  const checkAny = (draw: fc.GeneratorValue) => check(randomSetUp(draw, server.url));
  await fc.assert(fc.asyncProperty(fc.gen(), checkAny), { numRuns, endOnFailure: true });
});
