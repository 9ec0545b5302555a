import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { pages } from "./docs/pages.js";

const root = join(__dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
/** These name files of the code. */
const guides = ["CONTRIBUTING.md", "docs/architecture.md"];

const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, "");

/** What stands between backticks. */
const named = (page: string): readonly string[] =>
  [...withoutBlocks(read(page)).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** A second heading of the same words is `#words-1`. */
const anchorsIn = (page: string): readonly string[] =>
  [...withoutBlocks(read(page)).matchAll(/^#+ (.*)$/gm)]
    .map(([, heading = ""]) => anchorOf(heading))
    .map((anchor, place, all) => {
      const before = all.slice(0, place).filter((each) => each === anchor).length;
      return before === 0 ? anchor : `${anchor}-${before}`;
    });

test.each(pages)("every link of %s leads to a file, and to a heading of it", (page) => {
  const links = [...withoutBlocks(read(page)).matchAll(/\]\(([^)\s]+)\)/g)];
  for (const [, link = ""] of links) {
    if (/^https?:/.test(link)) continue;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : relative(root, join(root, dirname(page), path));
    expect(existsSync(join(root, target)), link).toBe(true);
    if (anchor) expect(anchorsIn(target), link).toContain(anchor);
  }
});

test.each(guides)("every file and folder that %s names is there", (page) => {
  const folders = /^(provider|sdk|emulator|cli|test|bench|docs|examples|\.github)(\/[\w.-]+)*\/?$/;
  const paths = named(page).filter((code) => folders.test(code));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(guides)("every script that %s names is there", (page) => {
  const { scripts } = JSON.parse(read("package.json"));
  const reported = [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(reported));
});

test("every name in the code that a guide mentions is there", () => {
  const code = ["provider", "sdk", "emulator", "cli", "test"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => read(join(folder, file))),
    )
    .join("\n");
  const words = new Set(code.split(/\W+/));
  const names = guides.flatMap(named).filter((name) => /^[A-Za-z]+[a-z][A-Z]\w+$/.test(name));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

test("the architecture names every part", () => {
  const folders = ["provider", "cli", "sdk", "emulator", "bench"].flatMap((part) => [
    part,
    ...(part === "provider"
      ? readdirSync(join(root, part), { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => `${part}/${name}`)
      : []),
  ]);
  const mentioned = named("docs/architecture.md").join("\n");
  expect(folders.filter((folder) => !mentioned.includes(folder))).toEqual([]);
});

/** Without what the generator writes between two markers. */
const byHand = (text: string): string => text.replace(/<!-- (\w+) -->[\s\S]*?<!-- \/\1 -->/g, "");

const wordsIn = (texts: readonly string[]): number =>
  texts
    .join("\n")
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;

const docs = pages.filter((page) => page.startsWith("docs/"));

/** Whether the package holds a page, by the `files` of its manifest. */
const isPacked = (page: string): boolean => {
  const files: readonly string[] = JSON.parse(read("package.json")).files;
  const covers = (pattern: string): boolean =>
    page === pattern ||
    page.startsWith(`${pattern}/`) ||
    (pattern.endsWith("*") && page.startsWith(pattern.slice(0, -1)));
  const left = files.filter((pattern) => pattern.startsWith("!")).map((each) => each.slice(1));
  return files.some(covers) && !left.some(covers);
};

test("a reader finds 15,000 words by hand at most, 1,500 to begin with, and the package holds 45,000", () => {
  expect(wordsIn([read("README.md")])).toBeLessThanOrEqual(1_500);
  const written = docs
    .filter((page) => !/^docs\/(api\/.*|resources|cli)\.md$/.test(page))
    .map((page) => byHand(read(page)));
  expect(wordsIn(written)).toBeLessThanOrEqual(15_000);
  expect(wordsIn(docs.filter(isPacked).map(read))).toBeLessThanOrEqual(45_000);
});

test("no page of the package leads to a page that is not in it", () => {
  const packed = docs.filter(isPacked);
  expect(packed.length).toBeGreaterThan(20);
  const broken = packed.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/\]\(([^)#\s]+\.md)/g)]
      .map(([, link = ""]) => relative(root, join(root, dirname(page), link)))
      .filter((target) => target.startsWith("docs/") && !isPacked(target))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});
