import { expect, test } from "vitest";
import { httpTransport } from "../../provider/service/http/transport.js";
import { failureOf } from "./support/connected.js";
import { FakeHub, json } from "./support/fake-hub.js";

test("calls go through the proxy where one is set", async () => {
  await using proxy = await FakeHub.start(json(200, { via: "proxy" }));
  const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  const transport = httpTransport({ environment });
  const url = "http://service.invalid/conversation/v3/channels";
  const response = await transport.send({ method: "GET", url, headers: {} });
  await transport.close();
  expect(response.text).toBe('{"via":"proxy"}');
});

test("this machine is reached without the proxy", async () => {
  await using hub = await FakeHub.start(json(200, { via: "nothing" }));
  const transport = httpTransport({ environment: { HTTP_PROXY: "http://127.0.0.1:1" } });
  const { baseUrl } = hub.settings();
  const response = await transport.send({ method: "GET", url: `${baseUrl}/channels`, headers: {} });
  await transport.close();
  expect(response.text).toBe('{"via":"nothing"}');
});

test("a host of NO_PROXY is reached without the proxy", async () => {
  const environment = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "service.invalid" };
  const transport = httpTransport({ environment });
  const url = "http://service.invalid/v3/channels";
  const failure = await failureOf(transport.send({ method: "GET", url, headers: {} }));
  await transport.close();
  expect(failure).toMatchObject({
    sent: false,
    cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) },
  });
});

test.each(["not an address", "ftp://proxy.example.com", "::", "http://user:hunter2@[x"])(
  "%s as a proxy is told before anything is sent, without its password, and closing goes on",
  async (address) => {
    const transport = httpTransport({ environment: { HTTPS_PROXY: address } });
    const url = "https://service.invalid/v3/channels";
    for (const _call of [1, 2]) {
      const failure = await failureOf(transport.send({ method: "GET", url, headers: {} }));
      expect(failure).toMatchObject({
        code: "SETTINGS_INVALID",
        message: expect.stringMatching(/HTTPS_PROXY is no address of a proxy/),
      });
      expect(JSON.stringify([failure, String(failure)])).not.toContain("hunter2");
    }
    await transport.close();
  },
);
