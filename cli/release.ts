import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../provider/kernel/package.js";
import { messageOf } from "./command.js";
import {
  type LinkingFiles,
  linkingFiles,
  releaseProblems,
  repositoryAddress,
  withRepository,
} from "./release-files.js";

const root = packageRoot();

const read = (path: string): string => readFileSync(join(root, path), "utf8");

const files = (): LinkingFiles => ({
  "package.json": read("package.json"),
  "README.md": read("README.md"),
  "SECURITY.md": read("SECURITY.md"),
  "CHANGELOG.md": read("CHANGELOG.md"),
  "docs/_index.md": read("docs/_index.md"),
  "docs/installation-configuration.md": read("docs/installation-configuration.md"),
});

const writeLinks = (address: string): void => {
  const [before, after] = [files(), withRepository(files(), repositoryAddress(address))];
  for (const path of linkingFiles.filter((path) => before[path] !== after[path])) {
    writeFileSync(join(root, path), after[path]);
    console.log(`wrote ${path}`);
  }
};

const check = (tag: string, address: string | undefined): void => {
  const published = address === undefined ? undefined : repositoryAddress(address);
  const problems = releaseProblems(files(), tag, published);
  for (const problem of problems) console.error(`✗ ${problem}`);
  if (problems.length === 0) console.log(`✓ ${tag} can be published`);
  process.exitCode = problems.length > 0 ? 1 : 0;
};

/**
 * `repository <address>` writes every link to the repository; `check <tag> [<address>]` checks
 * before a release.
 */
const main = ([command, ...[text, address]]: readonly string[]): void => {
  if (command === "repository" && text) writeLinks(text);
  else if (command === "check" && text) check(text, address);
  else throw new Error("Usage: release.js repository <address> | check <tag> [<address>]");
};

try {
  main(process.argv.slice(2));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
