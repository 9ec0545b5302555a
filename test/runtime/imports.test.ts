import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { expect, test } from "vitest";

const root = join(__dirname, "..", "..");
const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };

const sourceOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** What a file imports at once: types are gone, and what is loaded later does not count. */
const importsOf = (file: string): string[] => {
  const { outputText } = transpileModule(sourceOf(file), { compilerOptions });
  const found = outputText.matchAll(/^(?:import|export)\b(?:[^;]*?\bfrom)?\s*"([^"]+)";/gm);
  return [...found].map(([, path = ""]) => path);
};

const loadedWith = (file: string, seen = new Set<string>()): Set<string> => {
  seen.add(file);
  for (const path of importsOf(file)) {
    const isOwn = path.startsWith(".");
    const name = isOwn ? join(dirname(file), path).replace(/\.js$/, ".ts") : path;
    if (seen.has(name)) continue;
    seen.add(name);
    if (isOwn) loadedWith(name, seen);
  }
  return seen;
};

test("loading the runtime client loads no HTTP client, no database and no Pulumi", () => {
  const loaded = [...loadedWith("sdk/runtime/index.ts")];
  expect(loaded).toContain("zod");
  expect(loaded).toContain("provider/service/transport.ts");
  const heavy = /undici|p-retry|ioredis|@pulumi|hono|node:sqlite/;
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});

test("the code flow for public clients needs nothing of Node, and no dependency", () => {
  const loaded = [...loadedWith("sdk/runtime/pkce.ts")];
  expect(loaded).toContain("sdk/runtime/pkce.ts");
  expect(loaded.filter((name) => !name.endsWith(".ts"))).toEqual([]);
  const ofNode = /\b(Buffer|process|require|setImmediate)\b[.(]/;
  expect(loaded.filter((file) => ofNode.test(sourceOf(file)))).toEqual([]);
});
