import { createCipheriv, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";

/** A random passphrase, and how Pulumi encrypts with it. */
export interface PassphraseCrypter {
  /** For PULUMI_CONFIG_PASSPHRASE. */
  readonly passphrase: string;
  /** What a stack keeps of it: enough to tell a wrong passphrase, not to decrypt. */
  readonly salt: string;
  /** A text as Pulumi keeps it. */
  readonly encrypt: (text: string) => string;
}

/** Pulumi's own number of rounds; whoever has the passphrase needs the same key. */
const rounds = 1_000_000;
const keyBytes = 32;
const nonceBytes = 12;

const encryptWith =
  (key: Buffer) =>
  (text: string): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    const sealed = [cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `v1:${nonce.toString("base64")}:${Buffer.concat(sealed).toString("base64")}`;
  };

/** Makes a passphrase that nobody knows, so that a copied state holds no secret in clear. */
export const createCrypter = async (): Promise<PassphraseCrypter> => {
  const passphrase = randomBytes(24).toString("base64url");
  const salt = randomBytes(8);
  const key = await promisify(pbkdf2)(passphrase, salt, rounds, keyBytes, "sha256");
  const encrypt = encryptWith(key);
  // Pulumi decrypts this word to tell whether a passphrase is the right one.
  return { passphrase, encrypt, salt: `v1:${salt.toString("base64")}:${encrypt("pulumi")}` };
};
