import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(__dirname, "..");
const folders = ["provider", "sdk", "emulator", "cli", "bench", "examples", "test"];

const sources = folders.flatMap((folder) => {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(ts|mts|mjs)$/.test(file))
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
});

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const generated = new Set(["sdk/resources.ts"]);

/** What each folder may import of the others. */
const mayImport: Readonly<Record<string, readonly RegExp[]>> = {
  provider: [/^provider\//],
  "provider/kernel": [/^provider\/kernel\//],
  "provider/definition": [/^provider\/(kernel|definition)\//],
  "provider/resources": [/^provider\/(kernel|definition|resources)\//],
  sdk: [
    /^sdk\//,
    /^provider\/(kernel|definition|resources|service|pacing)\//,
    /^provider\/pointer/,
  ],
  emulator: [/^emulator\//, /^provider\/(kernel|definition|resources)\//],
  cli: [/./],
  bench: [/./],
  examples: [/^examples\//],
};

const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path = ""]) =>
    relative(root, join(root, file, "..", path)),
  );

const rulesFor = (file: string): readonly RegExp[] | undefined => {
  const folder = Object.keys(mayImport)
    .filter((name) => file.startsWith(`${name}/`))
    .sort((a, b) => b.length - a.length)[0];
  return folder ? mayImport[folder] : undefined;
};

test("imports point one way", () => {
  const wrong = sources.flatMap((file) => {
    const rules = rulesFor(file);
    return rules
      ? importsOf(file)
          .filter((path) => !rules.some((rule) => rule.test(path)))
          .map((path) => `${file} imports ${path}`)
      : [];
  });
  expect(wrong).toEqual([]);
});

test("no file is longer than 250 lines", () => {
  const long = sources
    .filter((file) => !generated.has(file))
    .filter((file) => textOf(file).split("\n").length - 1 > 250);
  expect(long).toEqual([]);
});

test("files are in kebab-case and have names that say something", () => {
  const wrong = sources.filter((file) => {
    const name = file.split("/").at(-1) ?? "";
    return (
      !/^[a-z0-9]+([-.][a-z0-9]+)*\.(ts|mts|mjs)$/.test(name) ||
      /^(utils?|helpers?|common|manager|base)\./.test(name)
    );
  });
  expect(wrong).toEqual([]);
});

test("no any, no suppressed type error, no unchecked non-null", () => {
  const wrong = sources.filter(
    (file) =>
      /(:|\bas|<|\|)\s*any\s*[;,)>=\]|&{]|@ts-ignore|@ts-nocheck/.test(textOf(file)) &&
      file !== "test/structure.test.ts",
  );
  expect(wrong).toEqual([]);
});

test("the engine and the emulator name no kind", () => {
  const kinds =
    /"(Authentication|ClientApplication|Participant|Channel|Orchestration|Account|authentications|clientapplications|participants|channels|orchestrations|accounts)"/;
  const engine = sources.filter((file) =>
    /^(provider\/(definition|lifecycle|service)|emulator)\//.test(file),
  );
  expect(engine.filter((file) => kinds.test(textOf(file)))).toEqual([]);
});
