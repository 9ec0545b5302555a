import { expect, test } from "vitest";
import { releaseProblems, withRepository } from "../../cli/release-files.js";

const address = "https://git.example.com/acme/conversation";
const changelog = `# Changelog

## [Unreleased]

## [0.2.0] - 2027-01-31

### Added

- Something.

## [0.1.0] - 2027-01-01

### Added

- The first.
`;
const bare = {
  "package.json": JSON.stringify({ name: "pulumi-conversation", version: "0.2.0" }),
  "README.md": "git clone <this repository> && cd pulumi-conversation",
  "SECURITY.md": "the repository's security advisories.",
  "CHANGELOG.md": changelog,
};
const ready = withRepository(bare, address);
const withChangelog = (text: string) => withRepository({ ...bare, "CHANGELOG.md": text }, address);

test("a release that is ready has no problems", () => {
  expect(releaseProblems(ready, "v0.2.0")).toEqual([]);
  expect(releaseProblems(ready, "v0.2.0", address)).toEqual([]);
});

test("the tag is the version", () => {
  expect(releaseProblems(ready, "v0.3.0")).toEqual(["the tag is v0.3.0, the version is 0.2.0"]);
  expect(releaseProblems(ready, "0.2.0")).toHaveLength(1);
});

test.each([
  ["no heading", changelog.replace("## [0.2.0] - 2027-01-31\n", "")],
  ["no date", changelog.replace("0.2.0] - 2027-01-31", "0.2.0]")],
  ["another version", changelog.replace("0.2.0]", "0.2.0-rc.1]")],
  ["no changes", changelog.replace("### Added\n\n- Something.\n", "")],
])("the change log has an entry: %s", (_, text) => {
  expect(releaseProblems(withChangelog(text), "v0.2.0")).toContain(
    'CHANGELOG.md has no entry below "## [0.2.0] - <year-month-day>"',
  );
});

test("nothing is left as unreleased", () => {
  const text = changelog.replace("[Unreleased]\n", "[Unreleased]\n\n- Something else.\n");
  expect(releaseProblems(withChangelog(text), "v0.2.0")).toEqual([
    'CHANGELOG.md still has entries below "## [Unreleased]"',
  ]);
});

test("the repository is named, linked everywhere, and the one that publishes", () => {
  expect(releaseProblems(bare, "v0.2.0")).toEqual([
    "package.json names no repository: npm run repository -- <address>",
  ]);
  const newer = { ...ready, "CHANGELOG.md": changelog };
  expect(releaseProblems(newer, "v0.2.0")).toEqual([
    `the links of CHANGELOG.md are not up to date: npm run repository -- ${address}`,
  ]);
  const fork = "https://git.example.com/other/conversation";
  expect(releaseProblems(ready, "v0.2.0", fork)).toEqual([
    `package.json names ${address}, not ${fork}`,
  ]);
});
