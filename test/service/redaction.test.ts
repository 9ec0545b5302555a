import fc from "fast-check";
import { expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { basicCredentials, secretTexts } from "../../provider/definition/fields.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { redact, shownText } from "../../provider/service/redaction.js";
import { coreMsOf } from "../support/core-time.js";

const secret = 'p@ss/w"rd é\\1';

/** How a service may spell it. */
const forms: Readonly<Record<string, string>> = {
  "as it is": secret,
  "in JSON": 'p@ss/w\\"rd é\\\\1',
  "in JSON of plain letters": 'p@ss/w\\"rd \\u00e9\\\\1',
  "in JSON with its slashes escaped": 'p@ss\\/w\\"rd é\\\\1',
  "in JSON inside JSON": 'p@ss/w\\\\\\"rd é\\\\\\\\1',
  "in an address": "p%40ss%2Fw%22rd%20%C3%A9%5C1",
  "in an address, in lower case": "p%40ss%2fw%22rd%20%c3%a9%5c1",
  "in a form": "p%40ss%2Fw%22rd+%C3%A9%5C1",
  "in a page": "p@ss/w&quot;rd é\\1",
  "as a log of bytes": "\\x70\\x40\\x73\\x73\\x2f\\x77\\x22\\x72\\x64\\x20\\xc3\\xa9\\x5c\\x31",
  "with braces": "\\u{70}\\u{40}ss\\u{2f}w\\u{22}rd \\u{0000e9}\\u{5C}1",
  "in an address of old": "%u0070%u0040ss%u002fw%u0022rd%u0020%u00E9%u005c1",
  "in a page, with zeros": "&#x000070;&#00064;ss&#0000047;w&#x00022;rd &#x0000E9;&#92;1",
  "in a page, loosely": "&#112&#64ss&#47w&quot;rd &#xe9;&#92;1",
  "in a mail": "=70=40=73=73=2F=77=22=72=64=20=C3=A9=5C=31",
  "in hexadecimal digits": "704073732f7722726420c3a95c31",
  "as a dump": "70 40 73 73 2F 77 22 72 64 20 C3 A9 5C 31",
  "in base64": "cEBzcy93InJkIMOpXDE=",
  "in base64 without its padding": "cEBzcy93InJkIMOpXDE",
};

test.each(Object.entries(forms))("a secret %s is hidden", (_, form) => {
  expect(redact(`it was ${form}, again ${form};`, [secret])).toBe(
    "it was [secret], again [secret];",
  );
});

/** How much of a form says four characters of the secret. */
const fourIn: Readonly<Record<string, number>> = {
  "as a log of bytes": 16,
  "with braces": 14,
  "in an address of old": 14,
  "in a page, with zeros": 20,
  "in a page, loosely": 14,
  "in a mail": 12,
  "in hexadecimal digits": 12,
  "as a dump": 14,
  "in an address": 6,
  "in an address, in lower case": 6,
  "in a form": 6,
  "in base64": 6,
  "in base64 without its padding": 6,
};

test.each(Object.entries(forms))("a secret %s is hidden where the text is cut", (name, form) => {
  for (let length = fourIn[name] ?? 4; length < form.length; length++) {
    const cut = form.slice(0, length);
    for (const end of ["", "…", '..."', "')", "***"]) {
      expect(redact(`it was ${cut}${end}`, [secret])).toMatch(/^it was \[secret\]/);
    }
    expect(redact(`it was '${cut}...' of text`, [secret])).toMatch(/^it was '\[secret\]/);
  }
});

const secretText = fc
  .string({ unit: "grapheme", minLength: 8, maxLength: 40 })
  .map((text) => `Qz7${text.trim()}`)
  .filter(({ length }) => length > 8);

const foreign = fc.string({ maxLength: 12 });

test("a secret that is cut within a character is hidden", () => {
  const secret = "Qz7!\u{10000}\u{10000}";
  const bytes = Buffer.from(secret);
  for (const text of [
    secret.slice(0, 5),
    secret.slice(0, 5).toWellFormed(),
    ...[5, 6, 7].map((end) => bytes.subarray(0, end).toString()),
  ])
    for (const dots of ["", "...", '"…'])
      expect(redact(`the value is ${text}${dots}`, [secret])).not.toContain("Qz7!");
});

test("a secret in base64 behind and before any other text is hidden", () => {
  fc.assert(
    fc.property(
      secretText,
      foreign,
      foreign,
      fc.constantFrom("base64", "base64url"),
      (...given) => {
        const [text, before, after, alphabet] = given;
        const whole = Buffer.from(`${before}${text}${after}`).toString(alphabet as BufferEncoding);
        const shown = redact(`Basic ${whole} is wrong`, [text]);
        expect(shown).toContain("[secret]");
        for (const run of shown.match(/[\w+/-]{4,}/g) ?? [])
          for (const skipped of [0, 1, 2, 3])
            expect(Buffer.from(run.slice(skipped), "base64").toString()).not.toContain("Qz7");
      },
    ),
    { numRuns: 300, seed: 33 },
  );
});

test("a part of a secret is hidden wherever it stands, in any case", () => {
  const part = fc.tuple(fc.nat(30), fc.integer({ min: 8, max: 40 }));
  const random = fc.stringMatching(/^[A-Za-z0-9_-]{40}$/);
  fc.assert(
    fc.property(
      random,
      part,
      fc.constantFrom("as", "lower", "upper"),
      (text, [from, length], way) => {
        const piece = text.slice(from, from + length);
        fc.pre(piece.length >= 8);
        const spelt = { as: piece, lower: piece.toLowerCase(), upper: piece.toUpperCase() }[way];
        expect(redact(`"${spelt}" is wrong`, [text])).toBe('"[secret]" is wrong');
      },
    ),
    { numRuns: 300, seed: 33 },
  );
});

test("base64 of bytes that differ in both alphabets is hidden in either", () => {
  for (const form of ["Pz8/Pj4+", "Pz8_Pj4-"]) expect(redact(form, ["???>>>"])).toBe("[secret]");
});

test("a secret that was tidied by the service is hidden", () => {
  for (const form of ["line one line two", "line one\nline two"])
    expect(redact(form, [" line one\nline two\n"])).toBe("[secret]");
});

test("credentials that go together are hidden as a Basic header has them", () => {
  const header = `Basic ${Buffer.from("robot:open sesame").toString("base64")}`;
  expect(redact(header, ["robot:open sesame"])).toBe("Basic [secret]");
  expect(redact(header, basicCredentials("robot", "open sesame"))).toBe("Basic [secret]");
  expect(redact("there is no user robot", basicCredentials("robot", "open sesame"))).toContain(
    "robot",
  );
});

test("the longer of two secrets is hidden first", () => {
  expect(redact("abcdefghi", ["abcdef", "abcdefghi"])).toBe("[secret]");
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
  const secrets = Array.from({ length: 30_000 }, (_, number) => `secret-${number}`);
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
