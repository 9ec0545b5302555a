import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emulatorProcess } from "../support/tool-process.js";

type Json = Record<string, unknown>;

type Addresses = Awaited<ReturnType<typeof emulatorProcess>>;

const dataFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "objects.db");
};

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> => {
  const ended = once(child, "exit");
  child.kill(signal);
  return ended;
};

const jsonOf = async (response: Response): Promise<Json> => (await response.json()) as Json;

const tokenOf = async (at: Addresses, id = at.clientId, secret = at.clientSecret) => {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: id,
    client_secret: secret,
    scope: "app.conversation.conversationmgr.manage",
  });
  return fetch(at.tokenUrl, { method: "POST", body });
};

const caller = async (at: Addresses) => {
  const { access_token: token } = await jsonOf(await tokenOf(at));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return (method: string, path: string, body?: unknown) =>
    fetch(at.baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
};

const channel = (type: string) => ({ type, displayName: "Kiosk", icon: "QUJD" });

test("what was acknowledged outlives SIGKILL: objects, clients, switches, credentials", async () => {
  const data = dataFile();
  const first = await emulatorProcess("--data", data);
  const call = await caller(first);
  const control = (path: string, method: string, body: unknown) =>
    fetch(first.controlUrl + path, { method, body: JSON.stringify(body) });
  await control("/switches", "PUT", { deliveryRetries: 7, put: "keep" });
  const robot = {
    clientId: "robot",
    clientSecret: "s",
    scopes: ["app.conversation.conversationmgr.manage"],
  };
  await control("/clients", "POST", robot);
  const gone = await jsonOf(await call("POST", "/channels", channel("gone")));
  const changed = await jsonOf(await call("POST", "/channels", channel("changed")));
  await call("PUT", `/channels/${changed.id}`, { ...channel("changed"), displayName: "Changed" });
  await call("DELETE", `/channels/${gone.id}`);
  const last = await call("POST", "/channels", channel("last"));
  expect(last.status).toBe(201);
  await end(first.child, "SIGKILL");

  const second = await emulatorProcess("--data", data);
  expect(second.clientSecret).toBe(first.clientSecret);
  expect((await tokenOf(second, "robot", "s")).status).toBe(200);
  const again = await caller(second);
  const list = await jsonOf(await again("GET", "/channels"));
  expect(list.paginationInfo).toEqual({ count: 2, pagenum: 1, pagesize: 25 });
  expect(list.channel).toMatchObject([
    { id: changed.id, type: "changed", displayName: "Changed" },
    { id: (await jsonOf(last)).id, type: "last" },
  ]);
  const switches = await jsonOf(await fetch(`${second.controlUrl}/switches`));
  expect(switches).toMatchObject({ deliveryRetries: 7, put: "keep" });
  expect((await again("POST", "/channels", channel("last"))).status).toBe(400);
});

test("of objects made at once, each that was acknowledged before SIGKILL is there", async () => {
  const data = dataFile();
  const first = await emulatorProcess("--data", data);
  const call = await caller(first);
  const acknowledged: unknown[] = [];
  const making = Array.from({ length: 200 }, async (_, place) => {
    const response = await call("POST", "/channels", channel(`c${place}`));
    acknowledged.push((await jsonOf(response)).id);
    if (acknowledged.length === 40) first.child.kill("SIGKILL");
  });
  await Promise.allSettled(making);
  expect(acknowledged.length).toBeGreaterThanOrEqual(40);

  const second = await emulatorProcess("--data", data);
  const { objects } = await jsonOf(await fetch(`${second.controlUrl}/snapshot`));
  const kept = (objects as Record<string, Json[]>).channels?.map(({ id }) => id);
  expect(kept).toEqual(expect.arrayContaining(acknowledged));
});
