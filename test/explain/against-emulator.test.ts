import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ExplainedAccount,
  explain,
  type MessageRoute,
  setUpObjects,
} from "../../cli/explain/explanation.js";
import { startEmulator } from "../../emulator/index.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { Running } from "../emulator/running.js";
import { callbackServer } from "../emulator-runtime/callback-server.js";
import { conversationIn, message, messagesIn } from "../emulator-runtime/hub.js";
import { randomSetUps, type SetUpSnapshot } from "./random-set-ups.js";

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

const send = (messages: readonly JsonObject[]) =>
  service.call("POST", "/conversations/messages", { messages: { message: messages } });

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
      ...(type === "delete.soft" ? { parent: { messageId: parent } } : {}),
    });
  });
};

type Delivered = readonly [messageId: string, url: string, isReached: boolean];

const predicted = ({ to }: MessageRoute, messages: readonly JsonObject[]): readonly Delivered[] =>
  messages.flatMap(({ messageId }) =>
    to.map(
      ({ callback = "", unreached }): Delivered => [
        String(messageId),
        callback,
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
  const parent = String(messagesIn(first)[0]?.messageId);
  const main = account.routes.find(
    ({ phase, from, types }) =>
      phase === account.begins && from === "customer" && types.includes("text"),
  );
  if (main) wanted.push(...predicted(main, [{ messageId: parent }]));
  const take = async (route: MessageRoute) => {
    const messages = messagesOf(route, conversation, parent);
    expect((await send(messages)).status).toBe(202);
    wanted.push(...predicted(route, messages));
  };
  for (const { from, type } of account.refused) {
    const sender = senders[from][0];
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
  const wire = setUpObjects(({ collection }) => objects[collection] ?? [], "platform");
  for (const account of explain(wire, "test").accounts) {
    await put(objects);
    if (account.inUse) await walk(account);
    else {
      const other = explain(wire, "test").accounts.find(
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
    if (isLost) expect(account.deadEnds.join()).toContain("a new conversation reaches nobody");
  }
};

const numRuns = Number(process.env.EXPLAIN_RUNS ?? 25);

test("what is said of random accounts is what the emulator delivers", {
  timeout: 120_000 + numRuns * 4000,
}, async () => {
  const server = await callbackServer();
  await fc.assert(fc.asyncProperty(randomSetUps(server.url), check), { numRuns });
});
