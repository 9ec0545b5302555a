import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import {
  codeFromRedirect,
  exchangeCode,
  isConversationOver,
  type NewConversation,
  type ReceivedMessage,
  startAuthorization,
} from "../../sdk/runtime/index.js";
import { running } from "../emulator/running.js";
import { failureOf } from "../service/support/connected.js";
import { declaredAccount } from "./support/declared-account.js";

const start: NewConversation = {
  account: { channel: "custom.kiosk", address: "kiosk-1" },
  customer: { name: "Ada Example" },
};
const receipt = randomBytes(20_480);

/** Something that happens once, and is waited for. */
const signal = () => {
  let happen: () => void = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
};

/** Version v1 carries texts only. */
const files = { v1: [], v3: ["customer: got receipt.png, equal: true"] } as const;

test.each(["v1", "v3"] as const)(
  "a whole conversation, with callbacks of version %s",
  async (version) => {
    const log: string[] = [];
    const [picked, joined, over] = [signal(), signal(), signal()];
    const note = (side: string, { type, text }: ReceivedMessage) => {
      log.push(`${side}: ${text ?? type}`);
    };
    await using live = await declaredAccount(
      {
        bot: ({ messages, assets }) => ({
          onMessage: async (message) => {
            note("bot", message);
            if (message.text === "An agent, please")
              return void (await messages.escalate(message, "custom_bot"));
            const items = [{ id: "7", title: "Shoes" }];
            const content = { title: "Which?", list: { sections: [{ title: "Open", items }] } };
            const asset = await assets.upload(receipt, {
              channel: "custom.kiosk",
              sender: "custom_bot",
              name: "receipt.png",
            });
            await messages.reply(message, {
              type: "richMessage.listpicker",
              sender: "custom_bot",
              content,
            });
            await messages.reply(message, {
              type: "text",
              sender: "custom_bot",
              attachments: [asset],
            });
          },
        }),
        customer: ({ assets }) => ({
          onMessage: async (message) => {
            note("customer", message);
            const [file] = message.attachments;
            if (file?.id) {
              const { bytes } = await assets.download(file.id);
              log.push(`customer: got ${file.name}, equal: ${receipt.equals(bytes)}`);
            }
            if (message.type === "text") picked.happen();
            if (message.type === "conversation.end") over.happen();
          },
        }),
        agent: ({ messages }) => ({
          onMessage: async (message) => {
            note("agent", message);
            if (message.type !== "escalation.transfer") return;
            await messages.reply(message, { type: "agent.join", sender: "custom_agent" });
            joined.happen();
          },
        }),
      },
      version,
    );
    const { messages, conversations } = live.client;
    const sender = { kind: "customer", name: "Ada Example" } as const;
    const { conversationId } = await messages.start({
      type: "text",
      text: "Where is my order?",
      sender,
      conversation: start,
    });
    await picked.happened;
    expect(await failureOf(conversations.get(conversationId))).toMatchObject({
      message: expect.stringContaining("Only a completed conversation"),
    });
    await messages.reply(conversationId, { type: "text", text: "An agent, please", sender });
    await joined.happened;
    await messages.end(conversationId, "custom_agent");
    await over.happened;
    await live.idle();
    expect(log.filter((line) => line.startsWith("bot"))).toEqual([
      "bot: Where is my order?",
      "bot: An agent, please",
    ]);
    expect(log).toContain("customer: richMessage.listpicker");
    expect(log.filter((line) => line.includes("receipt"))).toEqual(files[version]);
    const transcript = await conversations.get(conversationId);
    expect(transcript.messages.map(({ type }) => type)).toEqual([
      "text",
      "richMessage.listpicker",
      "text",
      "text",
      "escalation.transfer",
      "agent.join",
      "conversation.end",
    ]);
    const late = messages.reply(conversationId, { type: "text", text: "Wait!", sender });
    expect(isConversationOver(await failureOf(late))).toBe(true);
  },
);

const quiet = () => ({ onMessage: () => {} });
const silent = { bot: quiet, customer: quiet, agent: quiet };

test("an asset that was used in a message cannot be deleted", async () => {
  await using live = await declaredAccount(silent);
  const { assets, messages } = live.client;
  const options = { channel: "custom.kiosk", sender: "customer", name: "receipt.png" } as const;
  const [used, unused] = [
    await assets.upload(receipt, options),
    await assets.upload(receipt, options),
  ];
  await messages.start({
    type: "text",
    sender: "customer",
    conversation: start,
    attachments: [used],
  });
  await expect(assets.delete(used.id)).rejects.toMatchObject({ code: "IN_USE" });
  await assets.delete(unused.id);
  await expect(assets.get(unused.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("10 MiB go up and come down, equal to the byte", async () => {
  await using live = await declaredAccount(silent);
  const bytes = randomBytes(10 * 1024 * 1024);
  const options = { channel: "custom.kiosk", sender: "customer", name: "film.mp4" } as const;
  const { id } = await live.client.assets.upload(bytes, options);
  const copy = await live.client.assets.download(id);
  expect([copy.contentType, bytes.equals(copy.bytes)]).toEqual(["video/mp4", true]);
});

test.each(["users", "customers"])("a public client of %s signs in with a code", async (variant) => {
  const service = await running({});
  const { authUrl, tokenUrl, customerAuthUrl, customerTokenUrl } = service.emulator;
  const forUsers = variant === "users";
  const redirectUri = "https://app.example.com/back";
  const scope = "app.conversation.conversationmgr.interaction.read";
  await service.control("POST", "/clients", {
    clientId: "spa-1",
    public: true,
    redirectUris: [redirectUri],
    scopes: [scope],
  });
  const address = forUsers ? authUrl : customerAuthUrl;
  const begun = await startAuthorization({
    authUrl: address,
    clientId: "spa-1",
    redirectUri,
    scope,
  });
  const { headers } = await fetch(begun.url, { redirect: "manual" });
  const code = codeFromRedirect(headers.get("location") ?? "", begun.state);
  const exchange = {
    tokenUrl: forUsers ? tokenUrl : customerTokenUrl,
    clientId: "spa-1",
    redirectUri,
    code,
    verifier: begun.verifier,
  };
  expect(await exchangeCode(exchange)).toMatchObject({ accessToken: expect.any(String), scope });
  await expect(exchangeCode(exchange)).rejects.toMatchObject({
    code: "REJECTED",
    details: { serviceCode: "invalid_grant" },
  });
});
