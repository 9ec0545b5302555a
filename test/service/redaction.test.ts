import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { basicCredentials, secretTexts } from "../../provider/definition/fields.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { redact, shownText } from "../../provider/service/redaction.js";

/** How long a core is at work for this, in milliseconds: on a busy machine the same, unlike the time until it is done. */
const coreMsOf = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const secret = 'p@ss/w"rd é\\1';

test.each<readonly [string, string]>([
  ["as it is", secret],
  ["in JSON", 'p@ss/w\\"rd é\\\\1'],
  ["in JSON with more escapes", 'p@ss\\/w\\"rd \\u00e9\\\\1'],
  ["in a URL in lower case", "p%40ss%2fw%22rd%20%c3%a9%5c1"],
  ["in a URL", "p%40ss%2Fw%22rd%20%C3%A9%5C1"],
  ["in a form", "p%40ss%2Fw%22rd+%C3%A9%5C1"],
  ["in base64", "cEBzcy93InJkIMOpXDE="],
  ["in base64 behind a name", Buffer.from(`me:${secret}`).toString("base64")],
  ["in base64 for URLs before more", Buffer.from(`${secret}>>>???`).toString("base64url")],
])("a secret %s is hidden, whole and where the text is cut", (name, form) => {
  expect(redact(`it was ${form}, again ${form};`, [secret])).toBe(
    "it was [secret], again [secret];",
  );
  for (let length = name.includes("base64") ? 16 : 8; length < form.length; length++)
    expect(redact(`it was "${form.slice(0, length)}..."`, [secret])).toMatch(
      /^it was "\[secret\]=?\.\.\."$/,
    );
});

test("credentials that go together are hidden as a Basic header has them", () => {
  const header = `Basic ${Buffer.from("robot:open sesame").toString("base64")}`;
  expect(redact(header, ["robot:open sesame"])).toBe("Basic [secret]");
  expect(redact(header, basicCredentials("robot", "open sesame"))).toBe("Basic [secret]");
  expect(redact("there is no user robot", basicCredentials("robot", "open sesame"))).toContain(
    "robot",
  );
});

test("of secrets that begin alike, each is hidden to its end", () => {
  expect(redact("abcdefghi", ["abcdef", "abcdefghi"])).toBe("[secret]");
  expect(redact("abcdefgh-1, abcdefgh-2…", ["abcdefgh-1", "abcdefgh-234"])).toBe(
    "[secret], [secret]…",
  );
});

test("what stands for a secret is no secret itself", () => {
  expect(redact("hush-hush", ["hush-hush", "secret"])).toBe("[secret]");
});

test.each(["", "e", "co", "open", "scope", "token", "12345"])(
  "the short secret %j is not looked for",
  (short) => {
    expect(redact("the token lacks the scope, open the door, 12345", [short])).toBe(
      "the token lacks the scope, open the door, 12345",
    );
  },
);

test("an endless secret in an endless text costs next to nothing", async () => {
  const [endless, text] = ["ab".repeat(50_000), "abc".repeat(1_000_000)];
  const ms = await coreMsOf(() => shownText(text, [endless, `${endless}c`]));
  expect(ms).toBeLessThan(2_000);
});

test("of a text of megabytes that counts as a secret, the beginning is looked for, at no cost", async () => {
  const note = `${"aB3-".repeat(1_250_000)}the end of it`;
  let shown = "";
  const ms = await coreMsOf(() => {
    shown = shownText("400-358 note: aB3-aB3-aB3-… must be shorter", ["a-password", note]);
  });
  expect(shown).toBe("400-358 note: [secret]… must be shorter");
  expect(ms).toBeLessThan(500);
});

test("beside more secrets than can be looked for, nothing foreign is shown", () => {
  const secrets = Array.from({ length: 10_000 }, (_, number) => hash("sha256", `${number}`));
  expect(shownText("400-358 note: must be shorter", secrets)).toBe("[secret]");
});

test("a text is cut at whole characters", () => {
  expect(shownText("😀".repeat(400), [])).toBe(`${"😀".repeat(299)}…`);
});

test("secrets of an authentication are found in its wire form, inside JSON text too", () => {
  const body = {
    name: "shown",
    basicAuth: { username: "shown", password: "s1" },
    oauth2: { headers: [{ name: "shown", value: "s2" }], payload: '{"a":{"b":"s3"}}' },
  };
  const found = secretTexts(authentication.fields, body);
  expect(found).toEqual(expect.arrayContaining(["s1", "s2", '{"a":{"b":"s3"}}', "s3"]));
  expect(found).toContain(Buffer.from("shown:s1").toString("base64"));
  expect(found).not.toContain("shown");
});

const headers = { name: "customer", headers: [{ name: "shown", value: "s1" }] };
const oauth2 = { headers: { shown: "s2" }, payload: { deep: ["s3", 1234567] } };

test.each<[string, Definition, object, readonly string[]]>([
  ["inside lists", clientApplication, { roles: [headers] }, ["s1"]],
  ["among attributes", account, { attributes: [{ name: "shown", value: "s1" }] }, ["s1"]],
  ["in a program's terms", authentication, { oauth2 }, ["s2", "s3", "1234567"]],
  ["in a program's map", account, { attributes: { shown: "s1" } }, ["s1"]],
])("secrets are found %s", (_, { fields }, values, found) => {
  expect(secretTexts(fields, { name: "shown", ...values })).toEqual(found);
});

test("no text that a definition does not know may be shown", () => {
  const body = {
    id: "shown",
    name: "shown",
    created: "shown",
    extra: { region: "s1", keys: [{ name: "s2", deep: [1234567] }] },
    vendorKey: "s3",
    roles: [
      {
        name: "shown",
        authentication: { id: "shown", name: "shown", vendor: "s4" },
        headers: [{ name: "shown", value: "s5", vendor: "s6" }],
        callback: { vendor: "s7" },
        vendor: "s8",
      },
    ],
  };
  const found = secretTexts(clientApplication.fields, body);
  expect(found.sort()).toEqual(["1234567", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]);
});

test("a body that does not fit its definition is not known either", () => {
  expect(secretTexts(clientApplication.fields, { roles: "x", name: { a: "y" } })).toEqual([
    "x",
    "y",
  ]);
  expect(secretTexts(clientApplication.fields, { roles: null, name: null })).toEqual([]);
});
