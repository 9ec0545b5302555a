/**
 * A whole conversation on the account that this folder declares, shown as a transcript.
 *
 *   node converse.mts [--patience <seconds>] [--port <port>]
 *
 * Settings of the service come from the environment (CONVERSATION_BASE_URL and so on), the account
 * from ORDERS_BOT_STACK: the output of `pulumi stack output --json --show-secrets`. Exit code 1: the
 * conversation did not finish; the message names the broken link.
 */
import { type ConversationClient, connect } from "pulumi-conversation/runtime";
import { agent } from "./agent.mts";
import { ordersBot } from "./bot.mts";
import { brokenLink } from "./broken-link.mts";
import { placeFor, startCallbackServer } from "./callback-server.mts";
import { type Visit, visit } from "./customer.mts";
import { Inbox, NothingCame } from "./inbox.mts";
import { type Options, optionsIn } from "./options.mts";
import { type Side, type SideName, type SideOptions, sideOf } from "./side.mts";
import { type StackOutputs, stackOutputs } from "./stack-outputs.mts";
import { transcript } from "./transcript.mts";

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The three sides of the conversation, all played by this process. */
const sidesOf = (hub: ConversationClient, stack: StackOutputs, inbox: Inbox) => {
  const side = (name: SideName, onMessage: SideOptions["onMessage"]): Side =>
    sideOf({
      name,
      url: `${stack.callbackUrl}/${name}`,
      password: stack.callbackPassword,
      onMessage,
      onError: (error, message) =>
        inbox.fail(new Error(`The ${name} failed: ${messageOf(error)}`), message?.conversationId),
    });
  return {
    customer: side("customer", (message) => inbox.put(message)),
    bot: side("bot", ordersBot(hub, stack.channel)),
    agent: side("agent", agent(hub)),
  };
};

/** Runs the conversation of the customer, while bot and agent answer from their callbacks. */
const converse = async (
  hub: ConversationClient,
  stack: StackOutputs,
  { patienceMs, port }: Options,
): Promise<Visit> => {
  const { address, channel, callbackUrl } = stack;
  const place = placeFor(callbackUrl, port);
  const inbox = new Inbox(patienceMs);
  const sides = sidesOf(hub, stack, inbox);
  const all = Object.values(sides);
  const server = await startCallbackServer(all, place);
  const onSpeak = () => {
    for (const side of all) side.forget();
  };
  try {
    const visited = await visit({ hub, account: { channel, address }, inbox, onSpeak });
    await Promise.all(all.map(({ handler }) => handler.idle()));
    return visited;
  } catch (error) {
    throw error instanceof NothingCame ? new Error(brokenLink(error, sides, place)) : error;
  } finally {
    server.close();
  }
};

const show = async (hub: ConversationClient, { conversationId, file }: Visit): Promise<void> => {
  const conversation = await hub.conversations.get(conversationId);
  for (const line of transcript(conversation)) console.log(line);
  console.log(
    `\nThe customer downloaded ${file.name}: ${file.size} bytes, identical to what the bot\n` +
      `uploaded (SHA-256 ${file.sha256.slice(0, 12)}…).`,
  );
};

const main = async (): Promise<void> => {
  const options = optionsIn(process.argv.slice(2));
  const stack = stackOutputs(process.env.ORDERS_BOT_STACK);
  const hub = connect();
  try {
    await show(hub, await converse(hub, stack, options));
  } finally {
    await hub.close();
  }
};

main().catch((error: unknown) => {
  console.error(`✗ ${messageOf(error)}`);
  process.exitCode = 1;
});
