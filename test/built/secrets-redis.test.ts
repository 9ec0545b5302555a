import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../pacing/support/redis-server.js";
import { SearchedProject } from "../security/support/searched-project.js";
import { secretsIn } from "../support/left-behind.js";

const password = "redis-hush";

let redis: RedisServer | undefined;
let admin: Redis | undefined;
let monitor: Redis | undefined;
let shop: SearchedProject | undefined;

afterEach(async () => {
  await shop?.[Symbol.asyncDispose]();
  admin?.disconnect();
  monitor?.disconnect();
  await redis?.stop();
});

/** Every command that Redis is sent from now on, with all it is given. */
const overheard = async (client: Redis): Promise<readonly string[]> => {
  monitor = await client.monitor();
  const commands: string[] = [];
  monitor.on("monitor", (_time: string, parts: readonly string[]) =>
    commands.push(parts.join("\n")),
  );
  return commands;
};

test("Redis gets rates and names of endpoints, and no secret; nobody gets its password", async () => {
  redis = await startRedis();
  const open = new Redis(redis.url);
  await open.config("SET", "requirepass", password);
  open.disconnect();
  const url = redis.url.replace("//", `//:${password}@`);
  admin = new Redis(url);
  const commands = await overheard(admin);
  const settings = { CONVERSATION_REDIS_URL: url };
  shop = await SearchedProject.open("redis-client-hush", settings, [password]);
  await shop.succeed(["up", "--yes", "--skip-preview"], "first");
  expect(commands.join("\n")).toContain("POST /authentications");
  expect(await admin.keys("conversation:*")).not.toEqual([]);
  const secrets = [...shop.secrets, ...shop.tokens(), new URL(shop.wire.origin).host];
  expect(shop.tokens()).not.toEqual([]);
  expect(secretsIn(commands.join("\n"), secrets)).toEqual([]);
  expect(await shop.leaks()).toEqual([]);
  for (const client of [admin, monitor]) client?.disconnect();
  await redis.stop();
  const { output } = await shop.pulumi(["refresh", "--yes", "--skip-preview"], "first");
  expect(output).not.toContain(`:${redis.port}`);
  expect(await shop.leaks()).toEqual([]);
});
