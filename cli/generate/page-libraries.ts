import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, jsonIn } from "../../provider/kernel/json.js";

/** Its own declarations do not fit a module of today. */
const htmTypes = `import type { h, VNode } from "preact";

declare const htm: {
  bind(create: typeof h): (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
};
export default htm;`;

/** What the emulator's page is drawn with: the module of each library, and where its types are. */
const libraries = [
  { name: "preact", module: "dist/preact.mjs", types: 'export * from "preact";' },
  { name: "preact", module: "hooks/dist/hooks.mjs", types: 'export * from "preact/hooks";' },
  { name: "htm", module: "dist/htm.mjs", types: htmTypes },
] as const;

const folder = "emulator/page/browser/vendor";

/** A file's notice: the library's license, or where it is: in the library's main file, or here. */
const noticeOf = (library: string, module: string, read: (file: string) => string): string => {
  const description = jsonIn(read("package.json"));
  const { version, license } = isObject(description) ? description : {};
  const text = read("LICENSE").trim();
  const [copyright = ""] = text.match(/^ *Copyright (\(c\) )?\d.*$/m) ?? [];
  const isMain = module === `dist/${library}.mjs`;
  const place = license === "Apache-2.0" ? "LICENSE of this package" : `${library}.mjs`;
  const isHere = isMain && license !== "Apache-2.0";
  const notice = isHere ? text : `${copyright.trim()}\n${license}: see ${place}.`;
  return `/*! ${library} ${version}, unchanged but for the paths of imports.\n\n${notice}\n*/\n`;
};

/**
 * The page's libraries as files of this package, from the versions that package-lock.json names: the
 * page works without a network, and programs that install the package install no library of a page.
 */
export const pageLibraries = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    libraries.flatMap(({ name, module, types }) => {
      const read = (file: string) => readFileSync(join(root, "node_modules", name, file), "utf8");
      const [code = ""] = read(module).split("//# sourceMappingURL=");
      const linked = code.replaceAll('from"preact"', 'from"./preact.mjs"');
      const [file = ""] = module.split("/").slice(-1);
      return [
        [`${folder}/${file}`, `${noticeOf(name, module, read)}${linked.trimEnd()}\n`],
        [`${folder}/${file.replace(".mjs", ".d.mts")}`, `${types}\n`],
      ];
    }),
  );
