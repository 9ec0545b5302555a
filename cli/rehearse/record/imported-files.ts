import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const source = /\.(?:[cm]?[jt]sx?|json)$/;

/** A path in quotes that leads on from where it stands, as programs import and open files by. */
const relativePaths = /["'`](\.{1,2}\/[^"'`\n$*?<>|]+)["'`]/g;

const forms = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/** What a path of an import may stand for: TypeScript writes the name of the file that it will be. */
const candidates = (path: string): readonly string[] => [
  path,
  ...[".ts", ".tsx"].map((form) => path.replace(/\.jsx?$/, form)),
  path.replace(/\.([cm])js$/, ".$1ts"),
  ...forms.map((form) => `${path}.${form}`),
  ...forms.map((form) => join(path, `index.${form}`)),
];

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The files that a source names, from where it is or from where the program is run. */
const namedIn = (file: string, root: string): readonly string[] => {
  const paths = [...readFileSync(file, "utf8").matchAll(relativePaths)].map(
    ([, path = ""]) => path,
  );
  return paths.flatMap((path) =>
    [dirname(file), root].flatMap((from) => {
      const found = candidates(resolve(from, path)).find(isFile);
      return found === undefined ? [] : [found];
    }),
  );
};

/**
 * The files outside of a program's folders that its sources name, and those that these name: modules,
 * settings of the compiler, files that are read. Without what is installed.
 *
 * @param files those of the program, absolute
 * @param root where the program is run
 */
export const importedFiles = (files: readonly string[], root: string): readonly string[] => {
  const known = new Set(files);
  const waiting = [...files];
  const found: string[] = [];
  for (const file of waiting) {
    if (!source.test(file) || !isFile(file)) continue;
    for (const named of namedIn(file, root)) {
      if (known.has(named) || /[/\\]node_modules[/\\]/.test(named)) continue;
      known.add(named);
      waiting.push(named);
      found.push(named);
    }
  }
  return found;
};
