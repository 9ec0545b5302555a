import { setImmediate as tick } from "node:timers/promises";
import type { EmulatorOptions } from "../../emulator/index.js";
import { isObject, type JsonObject as Json } from "../../provider/kernel/json.js";
import { kindOf, type Reply, type Running, running } from "../emulator/running.js";
import { roleOf } from "../support/forms.js";
import { type CallbackServer, callbackServer } from "./callback-server.js";

type HubObject =
  | "customer"
  | "bot"
  | "agent"
  | "participant"
  | "channel"
  | "orchestration"
  | "account";

/** An emulator with a whole account whose callbacks are servers of the test. */
export interface Hub {
  readonly service: Running;
  readonly customer: CallbackServer;
  readonly bot: CallbackServer;
  readonly agent: CallbackServer;
  /** Ids of the setup objects by a short name. */
  readonly ids: Readonly<Record<HubObject, string>>;
  send(...messages: Json[]): Promise<Reply>;
  /** Sends a first message of a customer and gives the id of the conversation. */
  begin(changes?: Json): Promise<string>;
  deliveries(): Promise<Json[]>;
  /** Waits until the log of deliveries has so many entries, and gives them. */
  logged(entries: number): Promise<Json[]>;
}

export interface HubOptions extends EmulatorOptions {
  /** Members of every role. */
  readonly role?: Json;
  /** Ids of authentications are made by this, before everything else. */
  readonly prepare?: (service: Running) => Promise<Json>;
  /** Of the channel. */
  readonly restrictions?: Json | undefined;
  readonly bots?: false;
  readonly onEscalation?: false;
  readonly agents?: false;
  readonly customers?: false;
}

export const address = { channel: { type: "custom.kiosk" }, address: "kiosk-berlin-01" };

/** How a conversation is started: everything that contract and specification ask for. */
export const firstMessage = (changes: Json = {}): Json => ({
  messageId: "m-0001",
  type: { value: "text" },
  content: { text: "Where is my order?" },
  conversation: { account: address, customer: { name: "Ada Example", type: "individual" } },
  sender: { type: "customer", participant: { name: "Ada Example" } },
  ...changes,
});

export const message = (
  conversation: string,
  sender: string,
  type: string,
  more: Json = {},
): Json => ({
  type: { value: type },
  conversation: { id: conversation },
  sender: { type: sender },
  ...more,
});

export const messagesIn = ({ json }: Reply): Json[] => {
  const list: unknown = isObject(json.messages) ? json.messages.message : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
};

export const conversationIn = (reply: Reply): string => {
  const [first] = messagesIn(reply);
  if (reply.status !== 202 || !first || !isObject(first.conversation))
    throw new Error(`${reply.status} ${reply.text}`);
  return String(first.conversation.id);
};

/** Status and code of an answer. */
export const refusal = async (call: Promise<Reply>): Promise<unknown[]> => {
  const { status, json } = await call;
  return [status, json.code];
};

const applications = async (
  service: Running,
  options: HubOptions,
  servers: readonly CallbackServer[],
) => {
  const role = { ...(await options.prepare?.(service)), ...options.role };
  const make = (name: string, server: CallbackServer | undefined): Promise<string> =>
    service.make(kindOf("ClientApplication"), {
      roles: [roleOf(name, { ...role, name, callback: `${server?.url}/${name}` })],
    });
  const [customer, bot, agent] = servers;
  return {
    customer: await make("customer", customer),
    bot: await make("custom_bot", bot),
    agent: await make("platform_agent", agent),
  };
};

const flowOf = (
  ids: Readonly<Record<"customer" | "bot" | "agent", string>>,
  participant: string,
  options: HubOptions,
) => ({
  ...(options.bots === false
    ? {}
    : {
        botConfiguration: {
          bots: [
            {
              id: ids.bot,
              participant: { id: participant },
              ...(options.onEscalation === false
                ? {}
                : { onEscalation: { agent: { id: ids.agent } } }),
            },
          ],
        },
      }),
  ...(options.customers === false
    ? {}
    : { customerConfiguration: { customer: { id: ids.customer } } }),
  ...(options.agents === false ? {} : { agentConfiguration: { agents: [{ id: ids.agent }] } }),
});

/** Sets everything up for one test. */
export const hub = async (options: HubOptions = {}): Promise<Hub> => {
  const servers = [await callbackServer(), await callbackServer(), await callbackServer()] as const;
  const service = await running(options);
  const made = await applications(service, options, servers);
  const application = { id: made.bot };
  const participant = await service.make(kindOf("Participant"), {
    application,
    name: "orders-bot",
  });
  const { restrictions } = options;
  const channel = await service.make(kindOf("Channel"), {
    type: address.channel.type,
    ...("restrictions" in options ? { restrictions } : {}),
  });
  const flow = flowOf(made, participant, options);
  const orchestration = await service.make(kindOf("Orchestration"), { applications: flow });
  const account = await service.make(kindOf("Account"), {
    address: address.address,
    channel: { id: channel },
    chatConfigurations: {
      timeout: 30,
      orchestration: { id: orchestration },
      entryPoint: { id: "1007" },
    },
  });
  const send = (...messages: Json[]) =>
    service.call("POST", "/conversations/messages", { messages: { message: messages } });
  const deliveries = async (): Promise<Json[]> => {
    const { items } = (await service.control("GET", "/deliveries")).json;
    return Array.isArray(items) ? items.filter(isObject) : [];
  };
  const logged = async (entries: number): Promise<Json[]> => {
    for (;;) {
      const log = await deliveries();
      if (log.length >= entries) return log;
      await tick();
    }
  };
  const begin = async (changes: Json = {}) => conversationIn(await send(firstMessage(changes)));
  const [customer, bot, agent] = servers;
  const ids = { ...made, participant, channel, orchestration, account };
  return { service, customer, bot, agent, ids, send, begin, deliveries, logged };
};
