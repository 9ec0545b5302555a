import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assertNode } from "../provider/kernel/node-version.js";
import { resources } from "../provider/resources/index.js";
import { apiReference } from "./generate/api-reference.js";
import { commandReference, schemaFiles } from "./generate/command-reference.js";
import { pageLibraries } from "./generate/page-libraries.js";
import { resourceReference, resourceTable, settingsTable } from "./generate/reference-docs.js";
import { resourceClasses } from "./generate/resource-classes.js";

const root = join(__dirname, "..", "..");

/** A text with the part between two marker comments replaced. */
const between = (text: string, marker: string, content: string): string => {
  const [start, end] = [`<!-- ${marker} -->`, `<!-- /${marker} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The markers ${start} and ${end} are missing`);
  return `${text.slice(0, from + start.length)}\n${content}${text.slice(to)}`;
};

const current = (path: string): string => {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return "";
  }
};

const generated = async (): Promise<Readonly<Record<string, string>>> => ({
  "sdk/resources.ts": resourceClasses(resources),
  "docs/cli.md": await commandReference(),
  ...(await schemaFiles()),
  ...(process.argv.includes("--without-api") ? {} : await apiReference(root)),
  ...pageLibraries(root),
  "docs/resources.md": resourceReference(resources),
  "README.md": between(current("README.md"), "resources", resourceTable(resources)),
  "docs/guides/configuration.md": between(
    current("docs/guides/configuration.md"),
    "settings",
    settingsTable(),
  ),
});

/** Writes every generated file; `--check` only compares. `--without-api` leaves out docs/api. */
const main = async (): Promise<void> => {
  const stale = Object.entries(await generated()).filter(
    ([path, content]) => current(path) !== content,
  );
  if (process.argv.includes("--check")) {
    for (const [path] of stale) console.error(`${path} is not up to date. Run: npm run generate`);
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  for (const [path, content] of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    console.log(`wrote ${path}`);
  }
};

try {
  assertNode();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
void main();
