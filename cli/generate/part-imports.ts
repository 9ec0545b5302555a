import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { z } from "zod";

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.union([z.string(), z.object({ default: z.string() })])),
});

const productFolders = ["examples", "cli", "sdk", "emulator", "provider"];

const filesOf = (root: string): readonly string[] =>
  productFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.m?ts$/.test(file) && !/node_modules|\.test\.m?ts$/.test(file))
      .map((file) => join(folder, file)),
  );

/** Sources of the entry points, by what a program imports: `pulumi-conversation/runtime`. */
const entryPoints = (root: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(root, "package.json"), "utf8");
  const { name, exports } = manifestSchema.parse(JSON.parse(text));
  return new Map(
    Object.entries(exports).flatMap(([path, entry]) =>
      typeof entry === "string"
        ? []
        : [[join(name, path), entry.default.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts")]],
    ),
  );
};

const isErased = (names: string): boolean => {
  const inBraces = /^\{([\s\S]*)\}\s*$/.exec(names)?.[1];
  const single = inBraces?.split(",").map((name) => name.trim());
  return single?.every((name) => name === "" || name.startsWith("type ")) ?? false;
};

/** What a source loads when it runs, not what it takes types from. */
const loadedBy = (text: string): readonly string[] => [
  ...[...text.matchAll(/^(?:import|export) (?!type\b)([^;"]*?)from "([^"]+)"/gm)]
    .filter(([, names = ""]) => !isErased(names))
    .map(([, , path = ""]) => path),
  ...[...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, path = ""]) => path),
];

/**
 * Which part of the product loads code of which others: each folder of the provider is a part, so is
 * each folder of an entry point, and each folder at the top. Imports of types alone do not count.
 *
 * @param root folder of the package, with its sources
 * @throws Error where a folder cannot be read
 */
export const partImports = (root: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const entries = entryPoints(root);
  const entryFolders = new Set([...entries.values()].map((file) => dirname(file)));
  const partOf = (file: string): string => {
    const [top = "", below = ""] = file.replace(/\.m?[jt]s$/, "").split("/");
    const inside = join(top, below);
    return top === "provider" || entryFolders.has(inside) ? inside : top;
  };
  const loads = new Map<string, Set<string>>();
  for (const file of filesOf(root)) {
    const own = loads.get(partOf(file)) ?? new Set();
    loads.set(partOf(file), own);
    for (const path of loadedBy(readFileSync(join(root, file), "utf8"))) {
      const target = path.startsWith(".")
        ? normalize(join(dirname(file), path))
        : entries.get(path);
      if (target && partOf(target) !== partOf(file)) own.add(partOf(target));
    }
  }
  return loads;
};
