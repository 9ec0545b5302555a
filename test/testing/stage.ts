import { onTestFinished } from "vitest";
import type { EmulatorOptions } from "../../emulator/index.js";
import { connect } from "../../sdk/runtime/connect.js";
import { HubRecords } from "../../sdk/testing/checks.js";
import {
  EmulatedTime,
  type TestConversation,
  testConversation,
} from "../../sdk/testing/test-conversation.js";
import { type Hub, hub } from "../emulator-runtime/hub.js";

/** What a test conversation needs, without Pulumi. */
export interface Stage {
  readonly hub: Hub;
  readonly records: HubRecords;
  readonly time: EmulatedTime;
  /** A conversation with Ada that has not begun. */
  conversation(): TestConversation;
  until: EmulatedTime["until"];
}

export const address = { channel: "custom.kiosk", address: "kiosk-berlin-01" };

/** An account whose callbacks are servers of the test, and a client of it. */
export const stage = async (options: EmulatorOptions = {}): Promise<Stage> => {
  const made = await hub({ clock: "manual", ...options });
  const { emulator } = made.service;
  const client = connect(emulator);
  onTestFinished(() => client.close());
  const records = new HubRecords(emulator.control, "platform");
  const time = new EmulatedTime(emulator, true);
  const handlers = { idle: async () => undefined, failures: () => [] };
  const means = { client, records, time, finalTries: 3, handlers };
  return {
    hub: made,
    records,
    time,
    conversation: () => testConversation(means, address),
    until: (look, withinMs) => time.until(look, withinMs),
  };
};

/** Has the bot answer every message of the customer with a text, through the service. */
export const answerAsBot = ({ hub: { bot, service } }: Stage, text: string): void => {
  bot.answer = ({ message }, response) => {
    response.writeHead(200).end();
    const { conversation } = message;
    const reply = {
      type: { value: "text" },
      content: { text },
      conversation,
      sender: { type: "custom_bot", participant: { name: "orders-bot" } },
    };
    void service.call("POST", "/conversations/messages", { messages: { message: [reply] } });
  };
};
