import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pointerTo } from "../../provider/kernel/pulumi.js";
import { grpc } from "../../provider/plugin/protocol.js";
import { EngineClient } from "../support/engine-client.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

type Properties = Record<string, unknown>;

interface Options {
  /** Stack configuration, as the engine sends it. */
  readonly config?: Properties;
  readonly environment?: Readonly<Record<string, string>>;
}

const root = join(__dirname, "..", "..");
const script = createRequire(join(root, "package.json")).resolve(
  "@pulumi/pulumi/cmd/dynamic-provider",
);

/** The SDK's own dynamic-provider process, with this repository as the program's folder. */
const startProviderServer = async ({ config = {}, environment = {} }: Options = {}) => {
  // An engine that knows no calls; without one, the process ends.
  const engine = new grpc.Server();
  const credentials = grpc.ServerCredentials.createInsecure();
  const enginePort = await new Promise<number>((bound) =>
    engine.bindAsync("127.0.0.1:0", credentials, (_, port) => bound(port)),
  );
  const child = spawn(process.execPath, [script, `127.0.0.1:${enginePort}`], {
    cwd: root,
    env: { ...process.env, ...environment, PULUMI_NODEJS_PROJECT: "shop" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(Number.parseInt(String(line), 10)));
    child.once("exit", (code) =>
      reject(new Error(`the provider process ended with ${code}: ${stderr}`)),
    );
  });
  const client = new EngineClient(port);
  await client.configure("", config);
  // Such a process is told no URN.
  return {
    stderr: () => stderr,
    check: (olds: Properties, news: Properties) => client.check("", olds, news),
    create: (inputs: Properties) => client.create("", inputs),
    read: (id: string, outputs: Properties) => client.read("", id, { outputs }),
    stop: () => {
      client.close();
      engine.forceShutdown();
      child.kill("SIGKILL");
    },
  };
};

const properties = (kind: string, name: string, values: Properties): Properties => ({
  ...values,
  owner: `shop/prod/0123456789abcdef/${name}`,
  __provider: pointerTo(kind),
});

const channelInputs = (type: string, more: Properties = {}) =>
  properties("Channel", type, { type, displayName: "Kiosk", icon: "aVZC", ...more });

let service: StrictService;
let provider: Awaited<ReturnType<typeof startProviderServer>>;

beforeAll(async () => {
  service = await startStrictService();
  provider = await startProviderServer({ environment: service.environment });
});

afterAll(async () => {
  provider?.stop();
  await service?.close();
});

test("parallel first calls of a process are all configured", async () => {
  const { CONVERSATION_CLIENT_SECRET: clientSecret, ...environment } = service.environment;
  const fresh = await startProviderServer({
    environment: { ...environment, CONVERSATION_CLIENT_SECRET: "" },
    config: { "conversation:clientSecret": clientSecret },
  });
  const before = service.tokens();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      fresh.create(channelInputs(`custom.parallel-${number}`)),
    ),
  );
  fresh.stop();
  expect(answers.filter(({ error }) => error)).toEqual([]);
  expect(service.tokens() - before).toBe(1);
});

test("a wrong value is named with its path, without a property and without its value", async () => {
  const inputs = properties("Authentication", "wrong", {
    name: "wrong",
    basicAuth: { username: "u", password: 7_654_321 },
  });
  const { failures } = await provider.check({}, inputs);
  expect(failures).toEqual(["basicAuth.password must be a string, not a number"]);
});

test("an error is one message, without a stack", async () => {
  const before = provider.stderr().length;
  await provider.read("0d9f6c11-7e22-4d8b-b6f4-91d0c3a7e5f6", { __provider: pointerTo("Account") });
  const printed = () => provider.stderr().slice(before);
  await expect.poll(printed).toContain("there is no account with this ID");
  expect(printed()).not.toMatch(/\n\s+at /);
});

test("a kind that this release does not know says which release is needed", async () => {
  const { error } = await provider.create({ __provider: pointerTo("Hologram") });
  expect(error).toContain("has no resource Hologram");
});

test("importing the package loads neither the HTTP client nor the emulator", () => {
  const script = `require("pulumi-conversation"); const loaded = Object.keys(require.cache); console.log(loaded.filter((file) => /node_modules.(undici|zod|hono|bottleneck|p-retry)|dist.(emulator|provider.service|provider.lifecycle)/.test(file)).join())`;
  expect(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim()).toBe("");
});
