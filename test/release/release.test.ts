import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type LinkingFiles,
  namedRepository,
  releaseProblems,
  repositoryAddress,
  withRepository,
} from "../../cli/release-files.js";
import { leastNode } from "../../provider/kernel/node-version.js";
import { dimensions } from "../install-matrix/combinations.js";

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
const unready = {
  "package.json": JSON.stringify({ name: "pulumi-conversation", version: "0.2.0" }),
  "README.md": "git clone <this repository> && cd pulumi-conversation",
  "SECURITY.md": "the repository's security advisories.",
  "CHANGELOG.md": changelog,
  "docs/_index.md":
    "[First account](guides/first-account.md#5-move-to-the-service) and [site](https://x.example.com/y.md)",
  "docs/installation-configuration.md": "[Versions](upgrading.md)",
};
const ready = withRepository(unready, address);
const withChangelog = (text: string) =>
  withRepository({ ...unready, "CHANGELOG.md": text }, address);

test("a release that is ready has no problems", () => {
  expect(releaseProblems(ready, "v0.2.0")).toEqual([]);
  expect(releaseProblems(ready, "v0.2.0", address)).toEqual([]);
});

test("the tag is the version", () => {
  expect(releaseProblems(ready, "v0.3.0")).toEqual(["the tag is v0.3.0, but the version is 0.2.0"]);
  expect(releaseProblems(ready, "0.2.0")).toHaveLength(1);
});

test.each([
  ["no heading", changelog.replace("## [0.2.0] - 2027-01-31\n", "")],
  ["no date", changelog.replace("0.2.0] - 2027-01-31", "0.2.0]")],
  ["another version", changelog.replace("0.2.0]", "0.2.0-rc.1]")],
  ["no changes", changelog.replace("### Added\n\n- Something.\n", "")],
])("the change log has an entry: %s", (_, text) => {
  expect(releaseProblems(withChangelog(text), "v0.2.0")).toContain(
    'CHANGELOG.md has no entry under "## [0.2.0] - <year-month-day>"',
  );
});

test("the pages of Pulumi's registry lead to the repository, which alone has the others", () => {
  expect(ready["docs/_index.md"]).toBe(
    `[First account](${address}/blob/HEAD/docs/guides/first-account.md#5-move-to-the-service) and [site](https://x.example.com/y.md)`,
  );
  const moved = withRepository(ready, "https://git.example.com/other/conversation");
  expect(moved["docs/installation-configuration.md"]).toBe(
    "[Versions](https://git.example.com/other/conversation/blob/HEAD/docs/upgrading.md)",
  );
});

test("nothing is left as unreleased", () => {
  const text = changelog.replace("[Unreleased]\n", "[Unreleased]\n\n- Something else.\n");
  expect(releaseProblems(withChangelog(text), "v0.2.0")).toEqual([
    'CHANGELOG.md still has entries under "## [Unreleased]"',
  ]);
});

test("the repository is named, linked everywhere, and the one that publishes", () => {
  expect(releaseProblems(unready, "v0.2.0")).toEqual([
    "package.json does not name a repository; run: npm run repository -- <address>",
  ]);
  const newer = { ...ready, "CHANGELOG.md": changelog };
  expect(releaseProblems(newer, "v0.2.0")).toEqual([
    `the links in CHANGELOG.md are out of date; run: npm run repository -- ${address}`,
  ]);
  const fork = "https://git.example.com/other/conversation";
  expect(releaseProblems(ready, "v0.2.0", fork)).toEqual([
    `package.json names ${address}, not ${fork}`,
  ]);
});

const root = join(__dirname, "..", "..");
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

const own: LinkingFiles = {
  "package.json": read("package.json"),
  "README.md": read("README.md"),
  "SECURITY.md": read("SECURITY.md"),
  "CHANGELOG.md": read("CHANGELOG.md"),
  "docs/_index.md": read("docs/_index.md"),
  "docs/installation-configuration.md": read("docs/installation-configuration.md"),
};

test.each([
  "https://git.example.com/acme/conversation",
  "https://git.example.com/acme/conversation/",
  "https://git.example.com/acme/conversation.git",
  "git+https://git.example.com/acme/conversation.git",
])("%s is the address of a repository", (text) => {
  expect(repositoryAddress(text)).toBe(address);
});

test.each(["", "acme/conversation", "http://git.example.com/a/b", "https://git.example.com/a"])(
  "%j is none",
  (text) => {
    expect(() => repositoryAddress(text)).toThrow("https://host/owner/name");
  },
);

test("one address fills the fields of the package and every link", () => {
  const files = withRepository(own, address);
  expect(JSON.parse(files["package.json"])).toMatchObject({
    homepage: `${address}#readme`,
    repository: { type: "git", url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  });
  expect(files["README.md"]).toContain(`git clone ${address} && cd`);
  expect(files["SECURITY.md"]).toContain(`[security advisories](${address}/security/`);
  expect(files["CHANGELOG.md"]).toContain(`[Unreleased]: ${address}/compare/v`);
  expect(files["CHANGELOG.md"]).toContain(`[0.1.0]: ${address}/releases/tag/v0.1.0\n`);
});

test("everything else stays, and the address can be written again or changed", () => {
  const files = withRepository(own, address);
  const { homepage, repository, bugs, ...rest } = JSON.parse(files["package.json"]);
  expect(JSON.parse(own["package.json"])).toMatchObject(rest);
  expect(namedRepository(files["package.json"])).toBe(address);
  expect(withRepository(files, address)).toEqual(files);
  const moved = withRepository(files, "https://code.example.org/acme/hub");
  expect(JSON.stringify(moved)).not.toContain(address);
  expect(withRepository(moved, address)).toEqual(files);
});

const folder = ".github/workflows";
const workflows = readdirSync(join(root, folder)).map((name) => join(folder, name));
/** The one of new projects, too. */
const every = [...workflows, join("examples/new-project", folder, "conversation.yml")];

/** The YAML reader that Pulumi's SDK brings. */
const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
const yaml: { readonly load: (text: string) => unknown } = createRequire(join(sdk, "x"))("js-yaml");

const workflow = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      uses: z.string().optional(),
      strategy: z.object({ matrix: z.object({ node: z.array(z.string()) }) }).optional(),
      steps: z.array(z.object({ run: z.string().optional() })).optional(),
    }),
  ),
});

test.each(workflows)(
  "%s is YAML with jobs, and may only read unless a job says otherwise",
  (name) => {
    expect(yaml.load(read(name))).toMatchObject({
      name: expect.any(String),
      permissions: { contents: "read" },
      jobs: expect.any(Object),
    });
  },
);

test.each(every)("%s names every action by its commit", (name) => {
  const uses = [...read(name).matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action = ""]) => action);
  expect(uses.length).toBeGreaterThan(0);
  for (const action of uses)
    expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("all workflows use the same version of an action", () => {
  const uses = workflows.flatMap((name) => [...read(name).matchAll(/uses: (\S+)@(\S+)/g)]);
  const versions = new Map(uses.map(([, action, commit]) => [action, commit]));
  for (const [, action, commit] of uses) expect(versions.get(action)).toBe(commit);
});

test.each(workflows)("%s runs scripts that there are", (name) => {
  const { scripts } = JSON.parse(read("package.json"));
  const named = [...read(name).matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});

test("the tests run on every Node that a user may have, from the least one on", () => {
  const { jobs } = workflow.parse(yaml.load(read(folder, "ci.yml")));
  expect(jobs.source?.strategy?.matrix.node).toEqual(
    expect.arrayContaining([leastNode, ...dimensions.node]),
  );
  expect(workflow.parse(yaml.load(read(folder, "release.yml"))).jobs.tests?.uses).toBe(
    "./.github/workflows/ci.yml",
  );
});

test("a release is published by its own job, with provenance, after tests and check", () => {
  expect(yaml.load(read(folder, "release.yml"))).toMatchObject({
    on: { push: { tags: ["v*"] } },
    jobs: {
      publish: {
        needs: ["tests", "check"],
        permissions: { contents: "read", "id-token": "write" },
      },
    },
  });
  expect(read(folder, "release.yml")).toContain("npm publish --provenance");
  expect(read(folder, "release.yml").match(/id-token/g)).toHaveLength(1);
});

test("the bill of materials lists what the package installs, and nothing for development", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json"));
  const bill = JSON.parse(
    execFileSync("npm", ["run", "--silent", "release:bill"], { cwd: root, encoding: "utf8" }),
  );
  const names: readonly string[] = bill.components.map((each: { name: string }) => each.name);
  expect(bill).toMatchObject({ bomFormat: "CycloneDX" });
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(Object.keys(devDependencies).filter((name) => names.includes(name))).toEqual([]);
});

test("the bill of materials is attached to what was published", () => {
  const { attach } = workflow.parse(yaml.load(read(folder, "release.yml"))).jobs;
  expect(attach?.needs).toBe("publish");
  const runs = attach?.steps?.flatMap(({ run }) => run ?? []);
  expect(runs).toEqual([
    expect.stringContaining("npm run release:bill --silent > "),
    expect.stringMatching(/^gh release create .* \.\/\*\.cdx\.json$/),
  ]);
});
