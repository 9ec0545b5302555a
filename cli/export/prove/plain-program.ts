/** The generated source holds nothing of TypeScript but its way to import and export. */
const plainSource = (source: string): string =>
  source
    .replaceAll(/^import \* as (\w+) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replaceAll(/^import (\{[^}]*\}) from ("[^"]+");$/gm, "const $1 = require($2);")
    .replaceAll(/^import ("[^"]+");$/gm, "require($1);")
    .replaceAll(/^export const (\S+) = /gm, "const $1 = exports.$1 = ");

const toolFiles = ["tsconfig.json", "package.json", "README.md"];

/** An exported project as JavaScript, to be run where there is no compiler. */
export const plainProgram = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([
    ...[...files]
      .filter(([name]) => !toolFiles.includes(name))
      .map(([name, text]): [string, string] => {
        if (name.endsWith(".ts")) return [name.replace(/\.ts$/, ".js"), plainSource(text)];
        return [name, name === "Pulumi.yaml" ? text.replace("index.ts", "index.js") : text];
      }),
    ["package.json", '{ "main": "index.js" }\n'],
  ]);
