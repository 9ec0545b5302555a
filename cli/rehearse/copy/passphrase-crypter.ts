import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from "node:crypto";
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
const tagBytes = 16;
const cipherName = "aes-256-gcm";

const keyFrom = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  promisify(pbkdf2)(passphrase, salt, rounds, keyBytes, "sha256");

const encryptWith =
  (key: Buffer) =>
  (text: string): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(cipherName, key, nonce);
    const sealed = [cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `v1:${nonce.toString("base64")}:${Buffer.concat(sealed).toString("base64")}`;
  };

/** Pulumi decrypts this word to tell whether a passphrase is the right one. */
const checkedWord = "pulumi";

const formOfSalt = /^v1:([\w+/]+=*):v1:([\w+/]+=*):([\w+/]+=*)$/;

/** Whether a stack with this salt has this passphrase; true where the salt is of a form that is not known. */
export const hasPassphrase = async (passphrase: string, salt: string): Promise<boolean> => {
  const [random, nonce, word] = (formOfSalt.exec(salt) ?? [])
    .slice(1)
    .map((part) => Buffer.from(part, "base64"));
  if (!random || !nonce || !word || word.length <= tagBytes) return true;
  const decipher = createDecipheriv(cipherName, await keyFrom(passphrase, random), nonce);
  decipher.setAuthTag(word.subarray(-tagBytes));
  try {
    const text = decipher.update(word.subarray(0, -tagBytes), undefined, "utf8");
    return text + decipher.final("utf8") === checkedWord;
  } catch {
    return false;
  }
};

/** Makes a passphrase that nobody knows, so that a copied state holds no secret in clear. */
export const createCrypter = async (): Promise<PassphraseCrypter> => {
  const passphrase = randomBytes(24).toString("base64url");
  const salt = randomBytes(8);
  const encrypt = encryptWith(await keyFrom(passphrase, salt));
  return { passphrase, encrypt, salt: `v1:${salt.toString("base64")}:${encrypt(checkedWord)}` };
};
