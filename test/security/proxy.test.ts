import { expect, test } from "vitest";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { channel } from "../../provider/resources/channel.js";
import { connectService } from "../../provider/service/connect.js";
import { httpTransport } from "../../provider/service/transport.js";
import { hubSettings } from "../rehearse/hub-environment.js";
import { TunnelProxy } from "./support/tunnel-proxy.js";

const settings = hubSettings({
  CONVERSATION_BASE_URL: "https://hub.invalid/conversation/v3",
  CONVERSATION_TOKEN_URL: "https://login.invalid/oauth/token",
  CONVERSATION_CLIENT_SECRET: "canary-client-secret",
});

/** What listing the channels fails with in such an environment. */
const failureIn = async (environment: Readonly<Record<string, string>>): Promise<Error> => {
  const service = connectService(settings, {
    pace: waitOutRefusals(),
    transport: httpTransport({ environment }),
    retry: { retries: 1, minTimeoutMs: 0, maxTimeoutMs: 0 },
  });
  try {
    await service.list(channel);
  } catch (error) {
    return error as Error;
  } finally {
    await service.close();
  }
  throw new Error("nothing failed");
};

test.each(["HTTPS_PROXY", "https_proxy"])(
  "%s takes calls through a tunnel, which learns the host and nothing else",
  async (name) => {
    await using proxy = await TunnelProxy.open();
    const failure = await failureIn({ [name]: `http://${proxy.address}` });
    expect(new Set(proxy.asked)).toEqual(new Set(["login.invalid:443"]));
    expect(JSON.stringify(proxy.headers)).not.toMatch(/canary|Bearer|Basic/);
    expect(failure.message).toContain(
      `no connection to login.invalid (UND_ERR_ABORTED); check the URL, the network, and the proxy ${proxy.address} (${name})`,
    );
  },
);

test("a proxy that is not there is named, with no secret of its address", async () => {
  const failure = await failureIn({ HTTPS_PROXY: "http://user:canary-proxy@127.0.0.1:1" });
  expect(failure.message).toMatch(
    /no connection to login\.invalid \(ECONNREFUSED\); check the URL, the network, and the proxy 127\.0\.0\.1:1 \(HTTPS_PROXY\)/,
  );
  expect(`${failure.message} ${failure.stack} ${JSON.stringify(failure)}`).not.toContain("canary");
});

test("a name that is not found is the proxy's, as only that one is looked up", async () => {
  const failure = await failureIn({ HTTPS_PROXY: "http://proxy.invalid:3128" });
  expect(failure.message).toMatch(
    /the name of the proxy could not be resolved \(\w+\); .* the proxy proxy\.invalid:3128 \(HTTPS_PROXY\)/,
  );
});

test("the user of the proxy is sent to the proxy only", async () => {
  await using proxy = await TunnelProxy.open();
  await failureIn({ HTTPS_PROXY: `http://user:pass@${proxy.address}` });
  const basic = `Basic ${Buffer.from("user:pass").toString("base64")}`;
  expect(proxy.headers[0]).toMatchObject({ "proxy-authorization": basic });
  expect(proxy.headers[0]).not.toHaveProperty("authorization");
});

test.each(["login.invalid", ".invalid", "*"])("NO_PROXY=%s leads past the proxy", async (list) => {
  await using proxy = await TunnelProxy.open();
  const failure = await failureIn({ HTTPS_PROXY: `http://${proxy.address}`, NO_PROXY: list });
  expect(proxy.asked).toEqual([]);
  expect(failure.message).toMatch(/the name login\.invalid could not be resolved/);
});
