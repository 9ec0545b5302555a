import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { expect, test } from "vitest";
import { createCrypter, hasPassphrase } from "../../cli/rehearse/stack-copy.js";
import { encryptedValue, openedSecrets } from "../../provider/pulumi-cli/stack-documents.js";

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

test("a copied state is encrypted as Pulumi itself would, and tells a wrong passphrase", async () => {
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
