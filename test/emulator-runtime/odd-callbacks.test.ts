import type { ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { roleOf } from "../support/forms.js";
import { listenHere } from "../support/loopback-server.js";
import { order } from "./asset-calls.js";
import { firstMessage, type Hub, hub, message, refusal } from "./hub.js";

/** A server that answers the first bytes of every connection with these. */
const rawServer = async (answer: (socket: Socket, place: number) => void): Promise<string> => {
  let calls = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket, ++calls));
  });
  const origin = await listenHere(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `${origin}/`;
};

const callAt = async ({ service, ids }: Hub, callback: string): Promise<void> => {
  const roles = [roleOf("custom_bot", { callback })];
  await service.call("PUT", `/clientapplications/${ids.bot}`, { name: "raw", roles });
};

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

test.each([
  [
    "101 and stays open",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    { error: "bad upgrade" },
  ],
  [
    "what is no HTTP",
    "SSH-2.0-OpenSSH_9.6\r\n",
    { error: expect.stringContaining("does not match the HTTP/1.1 protocol") },
  ],
  ["half a status line", "HTTP/1.1 2", { error: "no response within 3000 ms" }],
  [
    "200 with a body that never ends",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\na",
    { status: 200 },
  ],
])(
  "a callback that answers %s settles, and the next message has its turn",
  async (_, bytes, outcome) => {
    const all = await hub({ callbackDeadlineMs: 3000, switches: { deliveryRetries: 0 } });
    await callAt(
      all,
      await rawServer((socket, place) => void socket.write(place === 1 ? bytes : ok)),
    );
    const conversation = await all.begin();
    await all.send(message(conversation, "customer", "text", { messageId: "m-2" }));
    expect(await all.logged(2)).toMatchObject([
      { messageId: "m-0001", ...outcome },
      { messageId: "m-2", status: 200 },
    ]);
  },
);

test("a thousand conversations on a slow callback open few connections, and all come through", async () => {
  const all = await hub({ callbackDeadlineMs: 120_000 });
  const { bot, service } = all;
  // Every answer waits until all messages are sent, and the connections are in use.
  const answering: ServerResponse[] = [];
  bot.answer = (_received, response) => void answering.push(response);
  const conversations = 1_000;
  for (let sent = 0; sent < conversations; sent += 10)
    await all.send(...Array.from({ length: 10 }, () => firstMessage()));
  // The API answers meanwhile.
  expect((await service.call("GET", "/channels")).status).toBe(200);
  await expect.poll(() => answering.length).toBe(80);
  bot.answer = (_received, response) => void response.writeHead(200).end();
  for (const response of answering) response.writeHead(200).end();
  const log = await all.logged(conversations);
  expect(log.every(({ status, attempt }) => status === 200 && attempt === 1)).toBe(true);
});

test("an attachment with an address is handed on as it is; an unknown asset is refused", async () => {
  const all = await hub();
  const attached = (attachment: object) =>
    firstMessage({ attachments: { attachment: [attachment] } });
  const file = { name: "a.png", size: 3, url: "https://files.example.com/a.png" };
  expect((await all.send(attached(file))).status).toBe(202);
  await all.logged(1);
  expect(all.bot.received[0]?.message.attachments).toEqual({ attachment: [file] });
  expect(await refusal(all.send(attached({ id: "1001" })))).toEqual([400, "400-196"]);
});

test("a signed address has the name that the emulator was called by", async () => {
  const { service } = await hub();
  const headers = { host: "emulator.example:4010" };
  const asset = order({ name: "a.png", size: 3 });
  const { json } = await service.call("POST", "/assets", asset, { headers });
  expect(json.contentUrl).toMatch(/^http:\/\/emulator\.example:4010\//);
});
