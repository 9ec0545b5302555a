import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ExplainedAccount,
  explain,
  type MessageRoute,
} from "../../cli/explain/explanation.js";
import { objectInputs } from "../../cli/inventory/object-inputs.js";
import { startEmulator } from "../../emulator/index.js";
import { neutralVendor } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { maySend, messageTypes } from "../../provider/resources/message-types.js";
import { type Reply, Running } from "../emulator/running.js";
import { callbackServer } from "../emulator-runtime/callback-server.js";
import { conversationIn, message, messagesIn } from "../emulator-runtime/hub.js";
import { roleOf } from "../support/forms.js";

/** Objects by collection, as a snapshot of the emulator has them. */
type SetUpSnapshot = Readonly<Record<string, readonly JsonObject[]>>;

const id = (letter: string, place: number): string =>
  `${letter}0000000-0000-4000-8000-00000000000${place}`;

const ids = (letter: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => id(letter, place));

const [applications, participants, channels, orchestrations, accounts] = [
  ids("a", 4),
  ids("b", 3),
  ids("c", 2),
  ids("d", 3),
  ids("e", 3),
];

/** Mostly active, as objects mostly are. */
const active = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constant({ active: true }) },
  { weight: 1, arbitrary: fc.constant({ active: false }) },
);

const roleNames = ["customer", "custom_bot", "platform_bot", "custom_agent", "platform_agent"];

const stamped = (object: JsonObject): JsonObject => ({
  created: "2026-01-01T00:00:00.000Z",
  modified: "2026-01-01T00:00:00.000Z",
  ...object,
});

const applicationOf = (url: string, own: string, place: number) =>
  fc
    .record({ roles: fc.subarray(roleNames, { minLength: 1 }), more: active })
    .map(({ roles, more }) =>
      stamped({
        id: own,
        name: `application ${place}`,
        ...more,
        roles: roles.map((name) => roleOf(name, { callback: `${url}/${place}/${name}` })),
      }),
    );

const application = fc.constantFrom(...applications);

const participantOf = (own: string, place: number) =>
  fc
    .record({ type: fc.constantFrom("custom_bot", "platform_bot"), of: application, more: active })
    .map(({ type, of, more }) =>
      stamped({ id: own, name: `bot ${place}`, type, application: { id: of }, ...more }),
    );

const direction = fc.record(
  {
    features: fc.subarray(["typing_events", "attachments"]),
    richMessageTypes: fc.subarray(["listpicker", "quickreply", "authentication", "form"]),
    midChatAuth: fc.boolean(),
  },
  { requiredKeys: [] },
);

const channelOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      restrictions: fc.option(
        fc.record({ inbound: direction, outbound: direction }, { requiredKeys: [] }),
        { nil: undefined, freq: 1 },
      ),
    })
    .map(({ more, restrictions }) =>
      stamped({
        id: own,
        type: `custom.c${place}`,
        displayName: `C${place}`,
        icon: "aVZC",
        ...more,
        ...(restrictions ? { restrictions } : {}),
      }),
    );

const bot = fc
  .record({
    id: application,
    participant: fc.constantFrom(...participants),
    agent: fc.option(application, { nil: undefined }),
  })
  .map(({ agent, participant, ...rest }) => ({
    ...rest,
    participant: { id: participant },
    ...(agent ? { onEscalation: { agent: { id: agent } } } : {}),
  }));

const orchestrationOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      bots: fc.option(fc.tuple(bot), { nil: undefined, freq: 2 }),
      customer: fc.option(application, { nil: undefined, freq: 5 }),
      agents: fc.option(fc.tuple(application), { nil: undefined }),
    })
    .map(({ more, bots, customer, agents = bots ? undefined : [applications[0]] }) =>
      stamped({
        id: own,
        name: `orchestration ${place}`,
        ...more,
        applications: {
          ...(bots ? { botConfiguration: { bots } } : {}),
          ...(customer ? { customerConfiguration: { customer: { id: customer } } } : {}),
          // The service asks for at least one agent, if any.
          ...(agents
            ? { agentConfiguration: { agents: agents.map((each) => ({ id: each })) } }
            : {}),
        },
      }),
    );

const accountOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      address: fc.constantFrom("one", "two"),
      channel: fc.constantFrom(...channels),
      orchestration: fc.constantFrom(...orchestrations),
    })
    .map(({ more, address, channel, orchestration }) =>
      stamped({
        id: own,
        name: `account ${place}`,
        ...more,
        address,
        channel: { id: channel },
        chatConfigurations: { orchestration: { id: orchestration } },
      }),
    );

/** Random setups whose callbacks all are below one address. */
const randomSetUps = (url: string): fc.Arbitrary<SetUpSnapshot> => {
  const all = <T>(of: (own: string, place: number) => fc.Arbitrary<T>, which: readonly string[]) =>
    fc.tuple(...which.map(of));
  return fc.record({
    authentications: fc.constant([]),
    clientapplications: all((own, place) => applicationOf(url, own, place), applications),
    participants: all(participantOf, participants),
    channels: all(channelOf, channels),
    orchestrations: all(orchestrationOf, orchestrations),
    accounts: all(accountOf, accounts),
  });
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
  const inputs = resources.flatMap((definition) =>
    (objects[definition.collection] ?? []).map((object) =>
      objectInputs(definition, String(object.id), object, neutralVendor),
    ),
  );
  const { accounts } = explain(inputs, "test");
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
  timeout: 120_000 + numRuns * 4000,
}, async () => {
  const server = await callbackServer();
  await fc.assert(fc.asyncProperty(randomSetUps(server.url), check), { numRuns });
});
