import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Pool } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { emulatorProcess } from "../support/tool-process.js";

/** `npm run test:long`: 1,000,000 calls, a tenth of them messages. */
const calls = Number(process.env.SOAK_CALLS ?? 20_000);
const messages = calls / 10;
const mostMebibytes = 250;

type Emulator = Omit<Awaited<ReturnType<typeof emulatorProcess>>, "child">;

/** Linux tells it in a file; not every machine has `ps`. */
const memoryOf = ({ pid }: ChildProcess): number => {
  const kibibytes = existsSync("/proc/self/status")
    ? /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kibibytes) / 1024;
};

type Json = Readonly<Record<string, unknown>>;

/** Calls of the service, several at once. */
class Caller {
  readonly #pool: Pool;
  #token = "";

  constructor(private readonly at: Emulator) {
    this.#pool = new Pool(new URL(at.baseUrl).origin, { connections: 8, pipelining: 4 });
  }

  async signIn(): Promise<void> {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: this.at.clientId,
      client_secret: this.at.clientSecret,
      scope: "x/.default",
    }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const path = new URL(this.at.tokenUrl).pathname;
    const reply = await this.#pool.request({ method: "POST", path, headers, body });
    this.#token = String(((await reply.body.json()) as Json).access_token);
  }

  async call(method: string, path: string, body?: Json): Promise<{ status: number; json: Json }> {
    const reply = await this.#pool.request({
      method: method as "GET",
      path: new URL(this.at.baseUrl).pathname + path,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await reply.body.text();
    return { status: reply.statusCode, json: text === "" ? {} : JSON.parse(text) };
  }

  async make(collection: string, body: Json): Promise<string> {
    const { status, json } = await this.call("POST", `/${collection}`, body);
    if (status !== 201) throw new Error(`${collection}: ${status} ${JSON.stringify(json)}`);
    return String(json.id);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** A bot that answers at once. */
const callback = async (): Promise<{ url: string; received: () => number }> => {
  let received = 0;
  const server = createServer((request, response) => {
    received += 1;
    request.resume().on("end", () => response.writeHead(200).end());
  });
  const origin = await listenHere(server);
  onTestFinished(() => closeServer(server));
  return { url: `${origin}/`, received: () => received };
};

const setUp = async (caller: Caller, url: string): Promise<void> => {
  const role = {
    name: "custom_bot",
    version: "v3",
    callback: url,
    notificationEmail: "a@b.example",
  };
  const application = {
    id: await caller.make("clientapplications", { name: "bot", roles: [role] }),
  };
  const participant = await caller.make("participants", {
    name: "bot",
    type: "custom_bot",
    application,
  });
  const channel = await caller.make("channels", {
    type: "custom.web",
    displayName: "Web",
    icon: "aaaa",
  });
  const bots = [{ id: application.id, participant: { id: participant } }];
  const orchestration = await caller.make("orchestrations", {
    name: "flow",
    applications: { botConfiguration: { bots } },
  });
  await caller.make("accounts", {
    name: "web",
    address: "web-01",
    channel: { id: channel },
    chatConfigurations: { orchestration: { id: orchestration } },
  });
};

const inTurn = async (count: number, each: (place: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async () => {
    while (next < count) await each(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
};

/** Ten calls, nine of them about one object that goes again; now and then large or long ones. */
const someCalls = async (caller: Caller, place: number): Promise<void> => {
  const icon = "aaaa".repeat(place % 200 === 0 ? 100_000 : 8);
  const body = { type: `custom.c${place}`, displayName: "Soak", icon };
  const id = await caller.make("channels", body);
  await caller.call("PUT", `/channels/${id}`, { ...body, description: "changed" });
  for (const path of [`/channels/${id}`, "/channels?$pagesize=5", "/accounts", "/participants"])
    await caller.call("GET", path);
  await caller.call("GET", `/${"long".repeat(place % 20 === 0 ? 7_000 : 1)}`);
  await caller.call("GET", `/channels/${id}?q=${"x".repeat(place % 20 === 0 ? 30_000 : 1)}`);
  expect((await caller.call("DELETE", `/channels/${id}`)).status).toBe(204);
};

const greeting = (place: number) => ({
  messageId: `m-${place}`,
  type: { value: "text" },
  content: { text: `Where is my order number ${place}? It should have come last week.` },
  conversation: {
    account: { channel: { type: "custom.web" }, address: "web-01" },
    customer: { name: "Ada Example", type: "individual", contacts: { contact: [] } },
  },
  sender: { type: "customer", participant: { name: "Ada Example" } },
});

/** Ten messages of one conversation, each a call of its own. */
const someMessages = async (caller: Caller, place: number): Promise<void> => {
  const send = (message: Json) =>
    caller.call("POST", "/conversations/messages", { messages: { message: [message] } });
  const { json } = await send(greeting(place));
  const [first] = (json as { messages: { message: { conversation: { id: string } }[] } }).messages
    .message;
  for (let more = 1; more < 10; more += 1) {
    const { conversation: _, ...rest } = greeting(place);
    const reply = await send({
      ...rest,
      messageId: `m-${place}-${more}`,
      conversation: { id: first?.conversation.id },
    });
    expect(reply.status).toBe(202);
  }
};

test(`${calls.toLocaleString("en")} calls, a tenth of them messages, leave it within ${mostMebibytes} MiB`, {
  timeout: 600_000 + calls * 2,
}, async () => {
  const { child, ...at } = await emulatorProcess("--switch", "tokenLifetime=86400");
  const bot = await callback();
  const caller = new Caller(at);
  onTestFinished(() => caller.close());
  await caller.signIn();
  await setUp(caller, bot.url);
  const idle = memoryOf(child);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(child));
  }, 250);
  onTestFinished(() => clearInterval(watch));
  const begun = performance.now();
  await inTurn((calls - messages) / 9, (place) => someCalls(caller, place));
  await inTurn(messages / 10, (place) => someMessages(caller, place));
  await expect.poll(bot.received, { timeout: 600_000 }).toBe(messages);
  most = Math.max(most, memoryOf(child));
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${calls} calls in ${seconds.toFixed(0)} s: ${idle.toFixed(0)} MiB idle, at most ${most.toFixed(0)} MiB`,
  );
  expect(most).toBeLessThanOrEqual(mostMebibytes);
});
