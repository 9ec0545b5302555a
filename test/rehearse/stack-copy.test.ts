import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assertPassphrase,
  configWith,
  createCrypter,
  hasPassphrase,
  profilesOf,
  stackReferencesIn,
  unknownStackIn,
  withoutWaysOut,
} from "../../cli/rehearse/stack-copy.js";
import { encryptedValue, openedSecrets } from "../../provider/pulumi-cli/stack-documents.js";
import { describeSettings, readSettings } from "../../provider/service/settings.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const stackWith = (env: NodeJS.ProcessEnv, config: Readonly<Record<string, string>>) => ({
  stack: { env },
  document: { version: 3, deployment: {} },
  config: new Map(Object.entries(config).map(([key, text]) => [key, { text, secret: false }])),
});

const profile = fc.constantFrom(undefined, "eu", "my-eu", "us_2");
const setting = fc
  .record({ profile, index: fc.nat(describeSettings().length - 1), inConfig: fc.boolean() })
  .map(({ inConfig, index, profile: of }) => {
    const { config = "", environment = "" } = describeSettings(of)[index] ?? {};
    return inConfig ? { config } : { environment };
  });
const own = fc.constantFrom(
  { environment: "CONVERSATION_DESK_PASSWORD" },
  { environment: "TITLE" },
  { config: "conversation:title" },
  { config: "shop:baseUrl" },
);

const named = (names: readonly { readonly [name: string]: string }[], of: string) =>
  Object.fromEntries(names.flatMap((each) => (each[of] ? [[each[of], "of the tenant"]] : [])));

test("no profile of a copied stack finds a way out, and the program's own values stay", () => {
  fc.assert(
    fc.property(fc.array(setting, { maxLength: 40 }), fc.array(own), (settings, owned) => {
      const all = [...settings, ...owned];
      const original = stackWith(named(all, "environment"), named(all, "config"));
      const environment = withoutWaysOut(original);
      const config = configWith(original, {});
      for (const of of [undefined, ...profilesOf(original), "eu", "my-eu", "us_2"])
        expect(() =>
          readSettings({ environment, config: (key) => config.get(key)?.text }, of),
        ).toThrow("baseUrl is missing");
      expect(environment).toMatchObject(named(owned, "environment"));
      for (const key of Object.keys(named(owned, "config")))
        expect(config.get(key)?.text).toBe("of the tenant");
    }),
    { numRuns: 300, seed: 5 },
  );
});

test("what the project file says does not come back where the copy has no such setting", () => {
  const original = stackWith({}, { "conversation:burst": "9", "conversation:put": "keep" });
  const config = configWith(original, { "conversation:put": "replace" });
  expect([...config].map(([key, { text }]) => [key, text])).toEqual([
    ["conversation:burst", ""],
    ["conversation:put", "replace"],
  ]);
});

test("a profile has the name of its configuration, where the environment gives its address", () => {
  const env = { CONVERSATION_MY_EU_BASE_URL: "a", CONVERSATION_US_BASE_URL: "b" };
  expect(profilesOf(stackWith(env, { "conversation:my-eu.clientId": "x" }))).toEqual([
    ...["my-eu", "us"],
  ]);
  expect(profilesOf(stackWith({}, { "conversation:my-eu.clientId": "x" }))).toEqual([]);
});

test("the stacks that a state refers to are named once each, as the program calls them", () => {
  const reference = (name: string) => ({
    urn: `urn:pulumi:prod::shop::pulumi:pulumi:StackReference::${name}`,
    type: "pulumi:pulumi:StackReference",
    id: name,
    inputs: { name },
    external: true,
  });
  const names = ["organization/infra/prod", "infra/prod", "organization/infra/prod"];
  const other = { urn: "urn:pulumi:prod::shop::a:b:C::c", type: "a:b:C", inputs: { name: "c" } };
  const resources = [...names.map(reference), other];
  expect(stackReferencesIn({ version: 3, deployment: { resources } })).toEqual(names.slice(0, 2));
  expect(stackReferencesIn({ version: 3, deployment: {} })).toEqual([]);
});

test("the first stack that Pulumi does not know is found in what it says", () => {
  const said = ["preview failed", 'Preview failed: unknown stack "organization/infra/prod"'];
  expect(unknownStackIn(said)).toBe("organization/infra/prod");
  expect(unknownStackIn(["Preview failed: organization name must be 'organization'"])).toBe(
    undefined,
  );
});

/** Whether a stack whose file has this content is read with these variables, and why not. */
const said = (file: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "Pulumi.prod.yaml"), file);
  writeFileSync(join(folder, "passphrase"), `${env.TEXT ?? ""}\n`);
  const place = { command: "pulumi", folder, env };
  const stack = { place, env, names: { project: "shop", stack: "prod" } };
  return assertPassphrase(stack).then(() => "", String);
};

test("another passphrase than the stack's is refused, wherever it comes from; none is left to Pulumi", async () => {
  const { passphrase, salt } = await createCrypter();
  const file = `encryptionsalt: ${salt}\nconfig:\n  a: b\n`;
  expect(await said(file, { PULUMI_CONFIG_PASSPHRASE: passphrase })).toBe("");
  expect(await said(file, { PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: passphrase })).toBe(
    "",
  );
  const refusal = "Nothing was rehearsed: the passphrase does not match the stack shop/prod";
  const wrong = [
    { PULUMI_CONFIG_PASSPHRASE: "wrong" },
    { PULUMI_CONFIG_PASSPHRASE: "", PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: passphrase },
    { PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: "wrong" },
  ];
  for (const env of wrong) expect(await said(file, env)).toContain(refusal);
  expect(await said(file, {})).toBe("");
  // Pulumi takes any where the file keeps no salt, as with a key of a cloud.
  expect(await said("config: {}\n", { PULUMI_CONFIG_PASSPHRASE: "wrong" })).toBe("");
});

/** Decrypts as Pulumi does, from its documentation of the passphrase provider. */
const decrypt = (passphrase: string, salt: string, sealed: string): string => {
  const key = pbkdf2Sync(passphrase, Buffer.from(salt, "base64"), 1_000_000, 32, "sha256");
  const [version, nonce = "", text = ""] = sealed.split(":");
  expect(version).toBe("v1");
  const bytes = Buffer.from(text, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(0, -16)).toString() + decipher.final().toString();
};

test("a copied state is encrypted as Pulumi itself would, and recognizes a wrong passphrase", async () => {
  const { passphrase, salt, encrypt } = await createCrypter();
  const [, random = "", ...check] = salt.split(":");
  expect(decrypt(passphrase, random, check.join(":"))).toBe("pulumi");
  expect(decrypt(passphrase, random, encrypt('"pässword"'))).toBe('"pässword"');
  expect(encrypt("a")).not.toBe(encrypt("a"));
});

test("every secret of a state is encrypted, however deep, and nothing else is touched", () => {
  const secret = (value: unknown) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    plaintext: JSON.stringify(value),
  });
  const state = { a: [{ b: secret({ c: "hidden" }) }], d: "seen", e: secret(["hidden"]) };
  const copy = encryptedValue(state, (text) => `<${text.length}>`);
  expect(JSON.stringify(copy)).not.toContain("hidden");
  expect(copy).toMatchObject({ a: [{ b: { ciphertext: "<14>" } }], d: "seen" });
  expect(openedSecrets(state)).toEqual({ a: [{ b: { c: "hidden" } }], d: "seen", e: ["hidden"] });
});

test("only the passphrase of a stack opens its salt; one of another form is left to Pulumi", async () => {
  const { passphrase, salt } = await createCrypter();
  expect(await hasPassphrase(passphrase, salt)).toBe(true);
  for (const other of ["", `${passphrase} `, passphrase.slice(1), passphrase.toUpperCase()])
    expect(await hasPassphrase(other, salt), other).toBe(false);
  const [, random = "", , nonce = "", word = ""] = salt.split(":");
  for (const damaged of [
    `v1:${random}:v1:${nonce}:${word.slice(4)}`,
    `v1:${nonce}:v1:${nonce}:${word}`,
  ])
    expect(await hasPassphrase(passphrase, damaged)).toBe(false);
  for (const unknown of ["", "v2:a:b", `v1:${random}`, `v1:${random}:v2:${nonce}:${word}`])
    expect(await hasPassphrase("other", unknown)).toBe(true);
});
