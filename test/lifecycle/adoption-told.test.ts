import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { extraChanges } from "../../provider/definition/changes.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { kiosk } from "./steps.js";

let hub: Emulated | undefined;
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
});

const byHand = { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC", active: true };

test("the preview of an adoption shows what extra changes, and no value of it", async () => {
  hub = await emulated();
  await hub.service.create(channel, { ...byHand, region: "eu", limits: { a: 1, b: 2 }, key: "k" });
  hub.nextRun([]);
  const extra = { region: "us", limits: { a: 1, b: 3 }, key: "canary-1", auth: { t: "canary-2" } };
  const inputs = kiosk({ adopt: true, extra, extraSecrets: ["key", "auth.t"] });
  expect((await hub.of("Channel").check({}, inputs)).failures).toEqual([]);
  const [told] = hub.told;
  expect(told).toContain("extra.region: [secret] → [secret]");
  expect(told).toContain("extra.limits.b: [secret] → [secret]");
  expect(told).toContain("extra.key: [secret] → [secret]");
  expect(told).not.toMatch(/canary|limits\.a|no field changes/);
});

test("the preview of an adoption shows the member that gives way to the chosen one", async () => {
  hub = await emulated();
  const basicAuth = { username: "u", password: "a-password" };
  await hub.service.create(authentication, { name: "web", type: "basic", basicAuth });
  hub.nextRun([]);
  const oauth2 = { tokenRequestUrl: "https://x.example.com/", method: "POST" };
  await hub.of("Authentication").check({}, owned("b", { name: "web", adopt: true, oauth2 }));
  expect(hub.told[0]).toMatch(/goes, as the program chose another in its place:\n\s+basicAuth/);
});

test("the preview of an adoption speaks of a mark only where one is written", async () => {
  hub = await emulated({}, { CONVERSATION_OWNERSHIP_MARK: "none" });
  await hub.service.create(channel, byHand);
  hub.nextRun([]);
  await hub.of("Channel").check({}, kiosk({ adopt: true }));
  expect(hub.told[0]).toMatch(/no field changes$/);
});

test("what extra changes is told wherever it is, and nothing where it says the same", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const objects = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), json);
  fc.assert(
    fc.property(objects, objects, (live, extra) => {
      expect(extraChanges(live, live)).toEqual([]);
      for (const { path } of extraChanges(live, extra)) expect(path).toMatch(/^extra\./);
      for (const paths of [[], Object.keys(extra), [""]]) {
        const told = extraChanges(live, { ...extra, s: { t: "canary" } }, paths);
        for (const { from = "[secret]", to } of told)
          expect([from, to]).toEqual(["[secret]", "[secret]"]);
      }
    }),
  );
});
