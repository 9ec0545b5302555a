import { describe, expect, test } from "vitest";
import { mergeFields } from "../../provider/definition/merge.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";

type Json = Record<string, unknown>;

const merged = ({ fields, rule }: typeof channel, live: Json, desired: Json, prior: Json = {}) =>
  mergeFields({ fields, rule, live, desired, prior, keeps: false });

describe("items of a list in extra", () => {
  const live = {
    rules: [
      { a: 1, id: "r1", by: "person" },
      { a: 2, id: "r2" },
    ],
  };
  const prior = { rules: [{ a: 1 }, { a: 2 }] };

  test.each([
    ["one changes", [{ a: 1 }, { a: 3 }], [live.rules[0], { a: 3 }]],
    ["one goes", [{ a: 2 }], [live.rules[1]]],
    ["one comes first", [{ a: 0 }, { a: 1 }, { a: 2 }], [{ a: 0 }, ...live.rules]],
  ])("that did not change keep what the service has beside: %s", (_, rules, written) => {
    expect(merged(channel, live, { rules }, prior).body.rules).toEqual(written);
  });
});

test("a mask inside an expanded reference is not written back", () => {
  const role = { name: "customer", version: "v3", callback: "https://x.example.com/" };
  const expanded = { id: "a1", name: "auth", basicAuth: { username: "u", password: "••••••" } };
  const roles = [{ ...role, authentication: { id: "a1" } }];
  const live = { roles: [{ ...role, authentication: expanded }] };
  const { body, hidden } = merged(clientApplication, live, { roles }, { roles });
  expect(JSON.stringify(body)).not.toContain("•");
  expect(JSON.stringify(body)).toContain(`"username":"u"`);
  expect(hidden).toEqual([]);
});

test.each(["[FILTERED]", "ENCRYPTED", "(not shown)", "protected", "<value hidden>", "******"])(
  "%s in the place of a secret is a mask",
  (mask) => {
    const role = { name: "customer", version: "v3", callback: "https://x.example.com/" };
    const live = { roles: [{ ...role, headers: [{ name: "X-Key", value: mask }] }] };
    const { hidden } = merged(clientApplication, live, { roles: [role] });
    expect(hidden).toEqual(['roles[customer].headers["X-Key"]']);
  },
);
