import { afterEach, expect, test, vi } from "vitest";
import { startEmulator } from "../../../emulator/index.js";
import { allAnswered, Empty, engineServices, grpc } from "../../../provider/plugin/protocol.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { PluginClient } from "../../support/plugin-client.js";

const provider = "urn:pulumi:prod::shop::pulumi:providers:conversation::eu";
const channel = "urn:pulumi:prod::shop::conversation:index:Channel::web";
const ownership = "shop/prod/0123456789abcdef";

afterEach(() => vi.unstubAllEnvs());

/** An engine that only listens; `shown` resolves with the first message. */
const engine = async () => {
  const server = new grpc.Server();
  const shown = new Promise<string>((resolve) => {
    server.addService(engineServices.EngineService, {
      log: (
        { request }: { request: { getMessage(): string } },
        reply: (error: null, answer: unknown) => void,
      ) => {
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
  return { address: `127.0.0.1:${port}`, shown, [Symbol.dispose]: () => server.forceShutdown() };
};

test.each(["http_proxy", "https_proxy", "grpc_proxy"])(
  "what is shown to the user goes to the engine itself, not to the proxy that %s names",
  async (variable) => {
    vi.stubEnv(variable, "http://127.0.0.1:9");
    using listening = await engine();
    await using plugin = await PluginClient.open();
    await plugin.handshake(listening.address);
    const olds = { baseUrl: "https://a.example.com/v3", ownership };
    await plugin.diffConfig(provider, olds, { ...olds, baseUrl: "https://b.example.com/v3" });
    expect(await listening.shown).toContain("The address of the account changes");
  },
);

test("an engine that is killed ends what waits: nothing more is sent", async () => {
  const emulator = await startEmulator();
  const control = new EmulatorControl(emulator);
  await using plugin = await PluginClient.open();
  try {
    const { baseUrl, tokenUrl, clientId, clientSecret } = emulator;
    await plugin.configure("eu", { baseUrl, tokenUrl, clientId, clientSecret, ownership });
    await control.faults({
      ...{ on: "POST /channels", kind: "status", status: 429 },
      headers: { "retry-after": "3600" },
    });
    const given = { type: "custom.web", displayName: "Web", icon: "aVZC" };
    const { inputs = {} } = await plugin.check(channel, {}, given);
    const killed = new AbortController();
    const created = plugin.create(channel, inputs, false, killed.signal);
    while (!(await control.writes()).includes("POST /channels"));
    killed.abort();
    expect((await created).error).toBeDefined();
    await allAnswered();
    expect(await control.objects("channels")).toEqual([]);
    expect((await control.writes()).filter((call) => call === "POST /channels")).toHaveLength(1);
  } finally {
    await emulator.close();
  }
});
