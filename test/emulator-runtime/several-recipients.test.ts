import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf } from "../emulator/running.js";
import { type CallbackServer, callbackServer } from "./callback-server.js";
import { type Hub, hub, message, messagesIn } from "./hub.js";

/** A second client application with a role, and the server of its callback. */
const application = async ({ service }: Hub, name: string) => {
  const server = await callbackServer();
  const role = {
    name,
    version: "v3",
    notificationEmail: "ops@example.com",
    callback: `${server.url}/${name}`,
  };
  return { server, id: await service.make(kindOf("ClientApplication"), { roles: [role] }) };
};

const orchestrate = async ({ service, ids }: Hub, applications: JsonObject): Promise<void> => {
  const put = await service.call("PUT", `/orchestrations/${ids.orchestration}`, {
    name: "flow",
    applications,
  });
  if (put.status !== 204) throw new Error(put.text);
};

/** A hub with two bots, each with an agent of its own, and two agents beside. */
const several = async () => {
  const all = await hub();
  const bot = await application(all, "custom_bot");
  const participant = await all.service.make(kindOf("Participant"), {
    application: { id: bot.id },
    name: "returns-bot",
  });
  const agent = await application(all, "custom_agent");
  const applications = (onEscalation: boolean) => {
    const escalation = (id: string) => (onEscalation ? { onEscalation: { agent: { id } } } : {});
    return {
      botConfiguration: {
        bots: [
          {
            id: all.ids.bot,
            participant: { id: all.ids.participant },
            ...escalation(all.ids.agent),
          },
          { id: bot.id, participant: { id: participant }, ...escalation(agent.id) },
        ],
      },
      customerConfiguration: { customer: { id: all.ids.customer } },
      agentConfiguration: { agents: [{ id: all.ids.agent }, { id: agent.id }] },
    };
  };
  await orchestrate(all, applications(true));
  return { all, bot: bot.server, agent: agent.server, participant, botId: bot.id, applications };
};

const ids = (...servers: readonly CallbackServer[]) => servers.map(({ messageIds }) => messageIds);

test("every bot that the orchestration names gets a customer's message, and the answer names them", async () => {
  const { all, bot } = await several();
  const reply = await all.send({
    messageId: "m-1",
    type: { value: "text" },
    content: { text: "Hello" },
    conversation: {
      account: { channel: { type: "custom.kiosk" }, address: "kiosk-berlin-01" },
      customer: { name: "Ada" },
    },
    sender: { type: "customer" },
  });
  expect(messagesIn(reply)[0]?.recipients).toEqual({
    recipient: [
      { type: "custom_bot", participant: { name: "orders-bot" } },
      { type: "custom_bot", participant: { name: "returns-bot" } },
    ],
  });
  await all.logged(2);
  expect(ids(all.bot, bot)).toEqual([["m-1"], ["m-1"]]);
});

test.each([true, false])(
  "every agent has the conversation after the escalation (named by the bots: %s)",
  async (byBots) => {
    const { all, bot, agent, applications } = await several();
    await orchestrate(all, applications(byBots));
    const conversation = await all.begin();
    await all.send(
      message(conversation, "custom_bot", "escalation.transfer", { messageId: "m-2" }),
    );
    await all.send(message(conversation, "customer", "text", { messageId: "m-3" }));
    await all.logged(7);
    expect(ids(all.bot, bot)).toEqual([["m-0001"], ["m-0001"]]);
    expect(ids(all.agent, agent)).toEqual([
      ["m-2", "m-3"],
      ["m-2", "m-3"],
    ]);
  },
);

test("with the switch only the first of each gets messages", async () => {
  const { all, bot, agent } = await several();
  await all.service.control("PUT", "/switches", { recipients: "first" });
  const conversation = await all.begin();
  await all.send(message(conversation, "custom_bot", "escalation.transfer", { messageId: "m-2" }));
  await all.logged(3);
  expect(ids(all.bot, bot, all.agent, agent)).toEqual([["m-0001"], [], ["m-2"], []]);
});

test("one that is named twice gets a message once", async () => {
  const { all, bot, participant, botId } = await several();
  const other = await all.service.make(kindOf("Participant"), { application: { id: botId } });
  const bots = [participant, other].map((id) => ({ id: botId, participant: { id } }));
  await orchestrate(all, { botConfiguration: { bots } });
  await all.begin();
  await all.logged(1);
  expect(ids(all.bot, bot)).toEqual([[], ["m-0001"]]);
});

test("a bot that is turned off leaves its messages to the other", async () => {
  const { all, bot } = await several();
  const body = await all.service.body(kindOf("Participant"), {
    application: { id: all.ids.bot },
    active: false,
  });
  await all.service.call("PUT", `/participants/${all.ids.participant}`, body);
  await all.begin();
  await all.logged(1);
  expect(ids(all.bot, bot)).toEqual([[], ["m-0001"]]);
});
