import { expect, test } from "vitest";
import { membersWithSecrets } from "../../cli/rehearse/emulated-account.js";
import { hideSecrets } from "../../emulator/objects/forms.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";

const oauth = {
  name: "bot",
  type: "oauth2",
  oauth2: {
    tokenRequestUrl: "https://bot.example.com/token",
    headers: [
      { name: "X-Key", value: "key" },
      { name: "X-Other", value: "other" },
    ],
    payload: "secret payload",
  },
};

const application = {
  name: "app",
  roles: [
    {
      name: "custom_bot",
      callback: "https://a.example.com/",
      headers: [{ name: "X-A", value: "first" }],
    },
    {
      name: "customer",
      callback: "https://b.example.com/",
      headers: [{ name: "X-A", value: "second" }],
    },
  ],
};

test.each(["mask", "omit", "echo"] as const)(
  "what a service hides (%s) and the state knows is there in the copy",
  (way) => {
    for (const [{ fields }, whole] of [
      [authentication, oauth],
      [clientApplication, application],
    ] as const) {
      const seen = { masked: 0, omitted: 0, echoed: 0 };
      const copy = membersWithSecrets(fields, hideSecrets(fields, whole, way), whole, seen);
      expect(copy).toEqual(whole);
      const counted = way === "mask" ? seen.masked : way === "omit" ? seen.omitted : seen.echoed;
      expect(counted).toBeGreaterThan(0);
      expect(seen.masked + seen.omitted + seen.echoed).toBe(counted);
    }
  },
);

test("what nobody knows stays hidden, and an object that must have a secret has one", () => {
  const seen = { masked: 0, omitted: 0, echoed: 0 };
  const { fields } = authentication;
  const basic = { name: "a", type: "basic", basicAuth: { username: "u" } };
  expect(membersWithSecrets(fields, basic, {}, seen)).toEqual({
    ...basic,
    basicAuth: { username: "u", password: "not-known" },
  });
  const masked = { ...basic, basicAuth: { username: "u", password: "••••••" } };
  expect(membersWithSecrets(fields, masked, {}, seen)).toEqual(masked);
  expect(seen.masked).toBe(1);
});

test("what was changed outside is copied as the service shows it", () => {
  const seen = { masked: 0, omitted: 0, echoed: 0 };
  const { fields } = authentication;
  const live = { ...oauth, oauth2: { ...oauth.oauth2, payload: "changed outside" } };
  expect(membersWithSecrets(fields, live, oauth, seen)).toEqual(live);
});
