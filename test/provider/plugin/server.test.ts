import type * as Grpc from "@grpc/grpc-js";
import type * as EngineServices from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type * as EngineMessages from "@pulumi/pulumi/proto/engine_pb.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type Emulator, startEmulator } from "../../../emulator/index.js";
import { loadWithSdk } from "../../../provider/dynamic/sdk-module.js";
import { allAnswered, Empty, grpc } from "../../../provider/plugin/protocol.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { PluginClient } from "../../support/plugin-client.js";

const engineServices: typeof EngineServices = loadWithSdk("./proto/engine_grpc_pb.js");

const provider = "urn:pulumi:prod::shop::pulumi:providers:conversation::eu";
const channel = "urn:pulumi:prod::shop::conversation:index:Channel::web";
const ownership = "shop/prod/0123456789abcdef";

let emulator: Emulator;
let control: EmulatorControl;
let plugin: PluginClient;

beforeAll(async () => {
  emulator = await startEmulator();
  control = new EmulatorControl(emulator);
});
afterAll(() => emulator.close());
beforeEach(async () => {
  plugin = await PluginClient.open();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await plugin[Symbol.asyncDispose]();
});

const configure = () => {
  const { baseUrl, tokenUrl, clientId, clientSecret } = emulator;
  return plugin.configure("eu", { baseUrl, tokenUrl, clientId, clientSecret, ownership });
};

const checked = async () =>
  (await plugin.check(channel, {}, { type: "custom.web", displayName: "Web", icon: "aVZC" }))
    .inputs ?? {};

type Logged = Grpc.ServerUnaryCall<EngineMessages.LogRequest, InstanceType<typeof Empty>>;

/** An engine that only listens; `shown` resolves with the first message. */
const engine = async () => {
  const server = new grpc.Server();
  const shown = new Promise<string>((resolve) => {
    server.addService(engineServices.EngineService, {
      log: ({ request }: Logged, reply: (error: null, answer: unknown) => void) => {
        resolve(request.getMessage());
        reply(null, new Empty());
      },
    });
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { address: `127.0.0.1:${port}`, shown, close: () => server.forceShutdown() };
};

test.each(["http_proxy", "https_proxy", "grpc_proxy"])(
  "what is shown to the user goes to the engine itself, not to the proxy that %s names",
  async (variable) => {
    vi.stubEnv(variable, "http://127.0.0.1:9");
    const { address, shown, close } = await engine();
    await plugin.handshake(address);
    const olds = { baseUrl: "https://a.example.com/v3", ownership };
    await plugin.diffConfig(provider, olds, { ...olds, baseUrl: "https://b.example.com/v3" });
    expect(await shown).toContain("The account's base URL changes");
    close();
  },
);

test("refused credentials of an explicit provider are named as its own settings", async () => {
  const { baseUrl, tokenUrl, clientId } = emulator;
  const account = { baseUrl, tokenUrl, clientId, clientSecret: "canary", ownership };
  await plugin.configure("eu", account);
  const { error } = await plugin.create(channel, await checked());
  expect(error).toContain("Check clientId of the provider eu, clientSecret of the provider eu;");
  expect(error).not.toContain("canary");
});

test("an engine that is killed ends what waits: nothing more is sent", async () => {
  await configure();
  await control.faults({
    ...{ on: "POST /channels", kind: "status", status: 429 },
    headers: { "retry-after": "3600" },
  });
  const killed = new AbortController();
  const created = plugin.create(channel, await checked(), false, killed.signal);
  const posts = async () => (await control.writes()).filter((call) => call === "POST /channels");
  while ((await posts()).length === 0);
  killed.abort();
  expect((await created).error).toBeDefined();
  await allAnswered();
  expect(await posts()).toHaveLength(1);
  expect(await control.objects("channels")).toEqual([]);
});
