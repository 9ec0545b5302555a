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

export const secretsIn = (bytes: Buffer | string, secrets: readonly string[]): string[] => {
  const buffer = Buffer.from(bytes);
  return secrets.filter((secret) => spellings(secret).some((text) => buffer.includes(text)));
};

/** Undefined for what is gone since it was listed: others may still be at work in a folder. */
const ifThere = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};

/** Files below a folder with their bytes, by path; what a link leads to is not below it. */
export const filesBelow = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { withFileTypes: true }).flatMap((entry): [string, Buffer][] => {
      const path = join(folder, entry.name);
      const bytes = entry.isFile() ? ifThere(() => readFileSync(path)) : undefined;
      if (bytes) return [[entry.name, bytes]];
      const below = entry.isDirectory() ? ifThere(() => filesBelow(path)) : undefined;
      return [...(below ?? [])].map(([name, of]) => [join(entry.name, name), of]);
    }),
  );

/** The files below a folder in which a secret shows, byte by byte. */
export const leakingFiles = (folder: string, secrets: readonly string[]): string[] =>
  [...filesBelow(folder)].flatMap(([path, bytes]) =>
    secretsIn(bytes, secrets).length > 0 ? path : [],
  );
