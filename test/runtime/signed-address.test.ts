import type { lookup } from "node:dns";
import { expect, onTestFinished, test, vi } from "vitest";
import { openContentTransfer } from "../../sdk/runtime/content-transfer.js";
import {
  checkSignedAddress,
  isPrivateAddress,
  publicLookup,
} from "../../sdk/runtime/signed-address.js";
import { AssetHub, status } from "./support/asset-hub.js";

const far = "https://hub.example.com/conversation/v3";
const here = "http://127.0.0.1:4010/conversation/v3";

test.each([
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.31.255.255",
  "192.168.1.1",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "2002:a00:1::",
  "fc00::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
])("%s is no public address", (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])(
  "%s is a public address",
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);

test.each([
  ["plain http", "http://files.example.com/x"],
  ["this machine", "https://127.0.0.1/x"],
  ["this machine by name", "https://localhost/x"],
  ["this machine as a number", "https://2130706433/x"],
  ["this machine in IPv6", "https://[::1]/x"],
  ["a mapped private address", "https://[::ffff:10.0.0.1]/x"],
  ["the address of metadata", "https://169.254.169.254/latest"],
  ["credentials", "https://user:canary@files.example.com/x"],
  ["a password alone", "https://:canary@files.example.com/x"],
  ["another protocol", "file:///etc/passwd"],
  ["no address", "canary"],
])("an address with %s is refused, and not shown", (_, address) => {
  expect(() => checkSignedAddress(address, far, "upload asset a-1")).toThrow(
    expect.objectContaining({
      code: "BAD_RESPONSE",
      details: { permanent: true },
      message: expect.not.stringMatching(/canary|latest|passwd/),
    }),
  );
});

test("a service on this machine may give addresses of this machine, and no private ones", () => {
  expect(checkSignedAddress("http://localhost:4010/x?s=1", here, "x").port).toBe("4010");
  expect(checkSignedAddress("https://files.example.com/x", here, "x").host).toBe(
    "files.example.com",
  );
  expect(() => checkSignedAddress("http://192.168.0.1/x", here, "x")).toThrow();
  expect(() => checkSignedAddress("https://192.168.0.1/x", here, "x")).toThrow();
});

/** A resolver that knows one name. */
const resolving = (...addresses: string[]) =>
  ((_name: string, _options: unknown, callback: (...answer: unknown[]) => void) => {
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    callback(null, found);
  }) as unknown as typeof lookup;

const looked = (
  resolver: typeof lookup,
  all: boolean,
  name = "files.example.com",
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    publicLookup(resolver)(name, { all }, (error, address) => {
      if (error) reject(error);
      else resolve(address);
    });
  });

test("a public name gives the addresses that were checked", async () => {
  const resolver = resolving("8.8.8.8", "2606:4700::1111");
  expect(await looked(resolver, false)).toBe("8.8.8.8");
  expect(await looked(resolver, true)).toEqual([
    { address: "8.8.8.8", family: 4 },
    { address: "2606:4700::1111", family: 6 },
  ]);
  // Only a service on this machine may give an address with this name.
  expect(await looked(resolving("127.0.0.1"), false, "localhost")).toBe("127.0.0.1");
});

test.each([
  ["a private address", ["10.0.0.1"]],
  ["a private address among others", ["8.8.8.8", "127.0.0.1"]],
  ["no address", []],
])("a public name that leads to %s is refused", async (_, addresses) => {
  await expect(looked(resolving(...addresses), true)).rejects.toMatchObject({ code: "EPRIVATE" });
});

test("a name that leads to this machine is refused when the connection is made", async () => {
  // Through a proxy nothing would be looked up here.
  for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const transfer = openContentTransfer(() => {}, resolving("127.0.0.1"));
  const url = new URL("https://files.example.com/x?signature=canary");
  const { signal } = new AbortController();
  await expect(transfer.get({ what: "download asset a-1", url, signal })).rejects.toMatchObject({
    code: "BAD_RESPONSE",
    message: expect.stringContaining("files.example.com"),
  });
  await transfer.close();
});

test("a private address that the service gives gets nothing, and leaves no asset", async () => {
  await using hub = await AssetHub.start();
  hub.address = "https://10.0.0.1/steal";
  const options = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;
  await expect(hub.client.assets.upload(new Uint8Array(9), options)).rejects.toMatchObject({
    code: "BAD_RESPONSE",
  });
  expect(hub.log).toEqual(["POST /assets", "DELETE /assets/a-1"]);
});

test.each([301, 302, 307, 308])("a redirect (%i) is not followed, up or down", async (code) => {
  await using hub = await AssetHub.start();
  hub.content = [status(code, { location: `${hub.origin}/content/elsewhere` })];
  const options = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;
  const refusal = { code: "BAD_RESPONSE", details: { status: code } };
  const { assets } = hub.client;
  await expect(assets.upload(new Uint8Array(9), options)).rejects.toMatchObject(refusal);
  await expect(assets.download("a-1")).rejects.toMatchObject(refusal);
  expect(hub.log.filter((line) => line.includes("elsewhere"))).toEqual([]);
});
