import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkServerIdentity, connect } from "node:tls";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { connectControl, type Emulator, startEmulator } from "../../emulator/index.js";
import { objectIdentifier, octetString, unsignedInteger } from "../../emulator/tls/der.js";
import { selfSigned } from "../../emulator/tls/self-signed.js";

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
  const emulator = await started({ tls: true });
  const { certificate = "", baseUrl, tokenUrl, authUrl, controlUrl } = emulator;
  for (const url of [baseUrl, tokenUrl, authUrl, controlUrl]) expect(url).toMatch(/^https:/);
  expect(await get(`${baseUrl}/channels`, certificate)).toBe(401);
  await expect(get(`${baseUrl}/channels`)).rejects.toMatchObject({
    code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/),
  });
  const control = connectControl(controlUrl, { certificate });
  expect((await control.switches({ pageSize: 3 })).pageSize).toBe(3);
  expect(await control.log()).toHaveLength(1);
  await control.reset();
  await expect(control.advance(-1)).rejects.toThrow("was refused (400)");
  await expect(connectControl(controlUrl).log()).rejects.toThrow("fetch failed");
});

test("signed addresses are https, too", async () => {
  const emulator = await started({ tls: true });
  const { port } = new URL(emulator.baseUrl);
  const certificate = emulator.certificate ?? "";
  const call = (method: string, url: string, headers: Record<string, string>, body: string) =>
    new Promise<Record<string, string>>((resolve, reject) => {
      const outgoing = request(url, { method, headers, ca: certificate }, async (answer) =>
        resolve(JSON.parse(Buffer.concat(await answer.toArray()).toString())),
      );
      outgoing.on("error", reject).end(body);
    });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const fields = {
    grant_type: "client_credentials",
    scope: "x/.default",
    client_id: emulator.clientId,
    client_secret: emulator.clientSecret,
  };
  const { access_token } = await call(
    "POST",
    emulator.tokenUrl,
    form,
    String(new URLSearchParams(fields)),
  );
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  await emulator.control.switches({ unknownReference: "accept" });
  const asset = { channel: { type: "web" }, sender: { type: "customer" }, name: "a.png", size: 1 };
  const { contentUrl } = await call(
    "POST",
    `${emulator.baseUrl}/assets`,
    headers,
    JSON.stringify(asset),
  );
  expect(contentUrl).toMatch(new RegExp(`^https://127.0.0.1:${port}/`));
});

test("the certificate is for the names of this machine, and no other", () => {
  const { cert } = selfSigned("emulator.example");
  const legacy = new X509Certificate(cert).toLegacyObject();
  const fits = (name: string) => checkServerIdentity(name, legacy) === undefined;
  for (const name of ["localhost", "127.0.0.1", "::1", "emulator.example", "emulator"])
    expect([name, fits(name)]).toEqual([name, true]);
  for (const name of ["evil.example", "127.0.0.2", "::2", "emulator.example.evil"])
    expect([name, fits(name)]).toEqual([name, false]);
  const parsed = new X509Certificate(cert);
  expect(parsed.checkIssued(parsed) && parsed.verify(parsed.publicKey) && parsed.ca).toBe(true);
  expect(Date.parse(parsed.validTo) - Date.now()).toBeGreaterThan(360 * 86_400_000);
  expect(new X509Certificate(selfSigned("x").cert).serialNumber).not.toBe(parsed.serialNumber);
});

test.each(["0.0.0.0", "::", "fd00::1:2", "2001:db8::", "::ffff:10.0.0.1", "no host name!", "*"])(
  "a certificate for the address %s can be read",
  (host) => {
    const { cert, key } = selfSigned(host);
    const legacy = new X509Certificate(cert).toLegacyObject();
    expect(checkServerIdentity("127.0.0.1", legacy)).toBeUndefined();
    expect(key).toContain("PRIVATE KEY");
    if (/^(0|fd|2001)/.test(host)) expect(checkServerIdentity(host, legacy)).toBeUndefined();
  },
);

test.skipIf(spawnSync("openssl", ["version"]).error)("OpenSSL takes the certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "certificate.pem");
  writeFileSync(file, selfSigned("localhost").cert);
  const { stdout, stderr } = spawnSync(
    "openssl",
    ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", file, file],
    { encoding: "utf8" },
  );
  expect(stdout + stderr).toBe(`${file}: OK\n`);
});

test("a certificate and key of one's own are used, and refused where they do not fit", async () => {
  const own = selfSigned("localhost");
  const emulator = await started({ tls: own });
  expect(emulator.certificate).toBe(own.cert);
  expect(await get(`${emulator.baseUrl}/channels`, own.cert)).toBe(401);
  for (const tls of [
    { cert: "no PEM", key: own.key },
    { cert: own.cert, key: selfSigned("x").key },
  ])
    await expect(startEmulator({ tls })).rejects.toThrow("they must be PEM, and fit");
});

test("a caller without TLS harms nobody", async () => {
  const emulator = await started({ tls: true });
  const { port } = new URL(emulator.baseUrl);
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
  const socket = connect({ port: Number(port), host: "127.0.0.1", ca: emulator.certificate ?? "" });
  await new Promise((secured) => socket.once("secureConnect", secured));
  socket.destroy();
  expect(
    await get(emulator.baseUrl.replace("/conversation/v3", "/health"), emulator.certificate),
  ).toBe(200);
});

test("numbers and identifiers are written as DER has them", () => {
  expect(unsignedInteger(Buffer.of(0x80)).toString("hex")).toBe("02020080");
  expect(objectIdentifier("1.2.840.10045.4.3.2").toString("hex")).toBe("06082a8648ce3d040302");
  fc.assert(
    fc.property(fc.nat({ max: 70_000 }), (length) => {
      const der = octetString(Buffer.alloc(length));
      const first = der[1] ?? 0;
      const digits = first < 0x80 ? 0 : first - 0x80;
      const said = digits === 0 ? first : der.readUIntBE(2, digits);
      expect([said, der.length]).toEqual([length, 2 + digits + length]);
    }),
  );
});

test.each(["http/1.1", "http/1.0"])(
  "a caller that asks for %s with TLS is served",
  async (protocol) => {
    const { baseUrl, certificate = "" } = await started({ tls: true });
    const port = Number(new URL(baseUrl).port);
    const socket = connect({ port, host: "localhost", ca: certificate, ALPNProtocols: [protocol] });
    onTestFinished(() => void socket.destroy());
    socket.write(
      `GET /health ${protocol.toUpperCase()}\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(socket.alpnProtocol).toBe(protocol);
    expect(text).toContain('{"status":"ok"}');
  },
);
