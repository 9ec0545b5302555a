import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every way in which a secret may be spelt in a file, an address, or a JSON document. */
const spellings = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ "": secret }).toString().slice(1),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
];

/** The secrets that show in these bytes. */
export const secretsIn = (bytes: Buffer | string, secrets: readonly string[]): string[] => {
  const buffer = Buffer.from(bytes);
  return secrets.filter((secret) => spellings(secret).some((text) => buffer.includes(text)));
};

/** Files below a folder; what a link leads to is not below it. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isFile()) return [entry.name];
    if (!entry.isDirectory()) return [];
    return filesBelow(join(folder, entry.name)).map((path) => join(entry.name, path));
  });

/** The files below a folder in which a secret shows, byte by byte. */
export const leakingFiles = (folder: string, secrets: readonly string[]): string[] =>
  filesBelow(folder).filter(
    (path) => secretsIn(readFileSync(join(folder, path)), secrets).length > 0,
  );
