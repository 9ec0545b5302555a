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

/**
 * What the compiler cannot see, because it happens within one project of tsconfig.json; between
 * projects, it refuses wrong imports.
 */
const mayImport: Readonly<Record<string, readonly RegExp[]>> = {
  // A test needs Pulumi and a forecast, without the commands.
  "sdk/testing": [/^(sdk|emulator|provider)\//, /^cli\/(pulumi|forecast)\//],
  // The emulator's folders are a line: each imports those before it.
  ...Object.fromEntries(
    ["http", "service", "tokens", "objects", "conversations", "hub", "page", "control"].map(
      (folder, place, line) => [
        `emulator/${folder}`,
        [/^provider\//, new RegExp(`^emulator/(${line.slice(0, place + 1).join("|")})/`)],
      ],
    ),
  ),
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

const products = sources.filter((file) => /^(provider|sdk|emulator|cli|bench)\//.test(file));

const exportsOf = (file: string): readonly string[] => {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function|class|interface|type|enum) (\w+)/gm;
  return [...new Set([...textOf(file).matchAll(declared)].map(([, name = ""]) => name))];
};

test("no name is exported twice", () => {
  const exported = products.flatMap((file) => exportsOf(file).map((name) => ({ name, file })));
  const twice = [...Map.groupBy(exported, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(", ")}`);
  expect(twice).toEqual([]);
});

test("no imports go round in a circle, types included", () => {
  const imports = new Map(
    products.map((file) => [file, importsOf(file).map((path) => path.replace(/\.js$/, ".ts"))]),
  );
  const left = new Set(products);
  const isEnd = (file: string): boolean =>
    !imports.get(file)?.some((path) => left.has(path)) ||
    ![...left].some((other) => imports.get(other)?.includes(file));
  for (let ends = products; ends.length > 0; ends = [...left].filter(isEnd))
    for (const file of ends) if (isEnd(file)) left.delete(file);
  expect([...left]).toEqual([]);
});
