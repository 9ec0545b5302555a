import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { leastNode } from "../../provider/kernel/node-version.js";
import { readRows } from "../install-matrix/rows.js";

const root = join(__dirname, "..", "..");
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

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
    expect.arrayContaining([leastNode, ...readRows().map(({ node }) => node)]),
  );
  expect(workflow.parse(yaml.load(read(folder, "release.yml"))).jobs.tests?.uses).toBe(
    "./.github/workflows/ci.yml",
  );
});

test("every two values of the install matrix meet in a row", () => {
  const rows = readRows().map((row) => Object.entries(row).map((cell) => cell.join(" ")));
  const values = [...new Set(rows.flat())];
  const column = (value: string) => value.split(" ")[0];
  const pairs = values.flatMap((one) => values.map((other) => [one, other]));
  const unmet = pairs
    .filter(([one = "", other = ""]) => column(one) !== column(other))
    .filter((pair) => !rows.some((row) => pair.every((value) => row.includes(value))));
  expect([rows.length > 0, unmet]).toEqual([true, []]);
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
