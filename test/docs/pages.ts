import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "..", "..");

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => join(folder, name));

/** Every page that a user reads, from the root. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...markdownIn("docs"),
  ...markdownIn("examples"),
];

export const readPage = (page: string): string => readFileSync(join(root, page), "utf8");

export interface CodeBlock {
  readonly page: string;
  /** Line of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

const blocksOf = (page: string): readonly CodeBlock[] => {
  const text = readPage(page);
  return [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ({ 1: language = "", 2: code = "", index }) => ({
      page,
      line: text.slice(0, index).split("\n").length + 1,
      language,
      code,
    }),
  );
};

export const blocksIn = (...languages: readonly string[]): readonly CodeBlock[] =>
  pages.flatMap(blocksOf).filter(({ language }) => languages.includes(language));
