import { spawnSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { checkServerIdentity, connect } from "node:tls";
import { expect, onTestFinished, test, vi } from "vitest";
import { connectControl, type Emulator, startEmulator } from "../../emulator/index.js";
import { httpTransport } from "../../provider/service/transport.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ownTls, running } from "./running.js";

const started = async (...[options]: Parameters<typeof startEmulator>): Promise<Emulator> => {
  const emulator = await startEmulator({ clock: "manual", ...options });
  onTestFinished(() => emulator.close());
  return emulator;
};

const get = (url: string, ca?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, ca === undefined ? {} : { ca }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    outgoing.on("error", reject).end();
  });

test("with TLS every address is https, and who trusts the certificate gets an answer", async () => {
  const emulator = await started({ tls: ownTls });
  const { certificate = "", baseUrl, tokenUrl, authUrl, controlUrl } = emulator;
  for (const url of [baseUrl, tokenUrl, authUrl, controlUrl]) expect(url).toMatch(/^https:/);
  expect(await get(`${baseUrl}/channels`, certificate)).toBe(401);
  await expect(get(`${baseUrl}/channels`)).rejects.toMatchObject({
    code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/),
  });
  const control = connectControl(controlUrl, { certificate });
  expect((await control.switches({ deliveryRetries: 3 })).deliveryRetries).toBe(3);
  expect(await control.log()).toHaveLength(1);
  await control.reset();
  await expect(control.advance(-1)).rejects.toThrow("was refused (400)");
  await expect(connectControl(controlUrl).log()).rejects.toThrow("fetch failed");
});

test("no variable turns the check of certificates off", async () => {
  const { baseUrl } = await started({ tls: ownTls });
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await get(`${baseUrl}/channels`)).toBe(401);
  const transport = httpTransport();
  onTestFinished(() => transport.close());
  const call = { method: "GET", url: `${baseUrl}/channels`, headers: {} } as const;
  await expect(transport.send(call)).rejects.toMatchObject({
    cause: { code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/) },
  });
});

test("signed addresses are https, too", async () => {
  const service = await running({ tls: ownTls, switches: { unknownReference: "accept" } });
  const asset = { channel: { type: "web" }, sender: { type: "customer" }, name: "a.png", size: 1 };
  const { json } = await service.call("POST", "/assets", asset);
  expect(String(json.contentUrl).startsWith(new URL("/", service.emulator.baseUrl).href)).toBe(
    true,
  );
  expect(json.contentUrl).toMatch(/^https:/);
});

const command = /^openssl (req .*?)^npx/ms.exec(
  readFileSync(join(__dirname, "..", "..", "docs", "emulator.md"), "utf8"),
)?.[1];

test.skipIf(spawnSync("openssl", ["version"]).error)(
  "the certificate that the documentation makes is for the names of this machine",
  async () => {
    const folder = temporaryFolder();
    const made = spawnSync("sh", ["-c", `openssl ${command}`], { cwd: folder });
    expect(made.status).toBe(0);
    const pem = (name: string) => readFileSync(join(folder, `${name}.pem`), "utf8");
    const tls = { cert: pem("certificate"), key: pem("key") };
    const { baseUrl } = await started({ tls });
    expect(await get(`${baseUrl}/channels`, tls.cert)).toBe(401);
    const legacy = new X509Certificate(tls.cert).toLegacyObject();
    for (const name of ["localhost", "127.0.0.1", "::1", "emulator", "host.docker.internal"])
      expect([name, checkServerIdentity(name, legacy)]).toEqual([name, undefined]);
  },
);

test("a certificate and a key that do not fit are refused", async () => {
  expect((await started({ tls: ownTls })).certificate).toBe(ownTls.cert);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  for (const tls of [
    { cert: "no PEM", key: ownTls.key },
    { cert: ownTls.cert, key: other },
  ])
    await expect(startEmulator({ tls })).rejects.toThrow("must be a matching pair of PEM strings");
});

test("a caller without TLS harms nobody", async () => {
  const emulator = await started({ tls: ownTls });
  const { port } = new URL(emulator.baseUrl);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
  const socket = connect({ port: Number(port), host: "127.0.0.1", ca: emulator.certificate ?? "" });
  await new Promise((secured) => socket.once("secureConnect", secured));
  socket.destroy();
  expect(
    await get(emulator.baseUrl.replace("/conversation/v3", "/health"), emulator.certificate),
  ).toBe(200);
});
