import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { journalFile } from "../../cli/probe/probe-objects.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import { probing } from "./probing.js";

class Killed extends Error {}

/** A network that is gone from one call on: before it reaches the tenant, or after. */
const killedAt = (call: number, after: boolean): Transport & { readonly sent: () => number } => {
  const real = httpTransport();
  let sent = 0;
  return {
    sent: () => sent,
    send: async (request) => {
      sent += 1;
      if (sent > call || (sent === call && !after)) throw new Killed();
      const answer = await real.send(request);
      if (sent === call) throw new Killed();
      return answer;
    },
    close: () => real.close(),
  };
};

test("killed at any call, before it acts or after, the next probe removes everything", {
  timeout: 600_000,
}, async () => {
  const tenant = await probing();
  const { on } = tenant;
  const whole = killedAt(Number.POSITIVE_INFINITY, true);
  await tenant.probe({ burst: false }, whole).ended;
  expect(whole.sent()).toBeGreaterThan(30);
  for (let call = 1; call <= whole.sent(); call += 1) {
    const first = tenant.probe({ burst: false }, killedAt(call, call % 2 === 0));
    await first.ended.catch(() => undefined);
    await tenant.probe({ burst: false, maxCalls: 1 }).ended;
    expect([call, await tenant.left()]).toEqual([call, []]);
  }
  expect(existsSync(journalFile(on.baseUrl, tenant.environment))).toBe(false);
});

test("a list that lags is measured, and what was made in it is removed all the same", async () => {
  const tenant = await probing();
  const { on } = tenant;
  await on.control.faults({
    on: "GET /authentications",
    kind: "stale-list",
    ms: 1_200,
    times: 100,
  });
  const found = await tenant.findings({ burst: false });
  expect(found.observed.listLagMs).toBeGreaterThan(0);
  expect(await tenant.left()).toEqual([]);
});

test("a deletion that fails once is repeated; one that is always refused is told, and done next time", async () => {
  const tenant = await probing();
  const { on } = tenant;
  await on.control.faults({
    on: "DELETE /authentications/{id}",
    kind: "status",
    status: 503,
    times: 2,
  });
  await tenant.findings({ burst: false });
  expect(await tenant.left()).toEqual([]);
  await on.control.faults({
    on: "DELETE /authentications/{id}",
    kind: "status",
    status: 403,
    times: 500,
  });
  const { ended } = tenant.probe({ burst: false });
  await expect(ended).rejects.toThrow(
    /left objects behind:\n {2}- authentication pulumi-conversation-probe-/,
  );
  await expect(ended).rejects.toThrow(/its deletion was refused \(403\)/);
  await on.control.clearFaults();
  const { ended: next, written } = tenant.probe({ burst: false });
  await next;
  expect(written.err).toContain("Removed what an earlier probe had begun");
  expect(await tenant.left()).toEqual([]);
});

test.each([
  [401, 1],
  [429, 1],
  [401, 3],
  [429, 20],
  [408, 1],
])("a tenant that acts and then answers %i, %i times, is left as it was", async (status, times) => {
  const tenant = await probing();
  const { on } = tenant;
  for (const collection of ["authentications", "clientapplications", "participants", "channels"])
    await on.control.faults({
      on: `POST /${collection}`,
      kind: "status-after-commit",
      status,
      times,
    });
  await tenant.probe({ burst: false }).ended;
  expect(await tenant.left()).toEqual([]);
  expect(existsSync(journalFile(on.baseUrl, tenant.environment))).toBe(false);
});

test("a page in place of an answer is none: what it stood for is asked again, and nothing is left", async () => {
  const tenant = await probing();
  const real = httpTransport();
  for (const every of [2, 3, 5, 7]) {
    let sent = 0;
    const send: Transport["send"] = async (request) => {
      sent += 1;
      if (request.url === tenant.on.tokenUrl || sent % every !== 0) return real.send(request);
      return { status: 200, headers: {}, text: "<html>Please sign in</html>" };
    };
    const { ended } = tenant.probe({ burst: false }, { send, close: () => real.close() });
    const told = await ended.then(
      () => "",
      ({ message }: Error) => message,
    );
    expect([every, told]).toEqual([every, ""]);
    expect([every, await tenant.left()]).toEqual([every, []]);
  }
});

test("an interrupted probe removes what it has made, and says so", async () => {
  const tenant = await probing();

  const real = httpTransport();
  let stop: () => void = () => undefined;
  let sent = 0;
  const transport: Transport = {
    send: (request) => {
      sent += 1;
      if (sent === 8) stop();
      return real.send(request);
    },
    close: () => real.close(),
  };
  const { ended, interrupt } = tenant.probe({}, transport);
  stop = interrupt;
  await expect(ended).rejects.toThrow("Interrupted. Everything that was made is removed again.");
  expect(await tenant.left()).toEqual([]);
});
