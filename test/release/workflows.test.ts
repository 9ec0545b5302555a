import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { leastNode } from "../../provider/kernel/node-version.js";

const root = join(__dirname, "..", "..");
const folder = join(root, ".github", "workflows");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const workflows = readdirSync(folder);

/** The YAML reader that Pulumi's SDK brings. */
const sdk = dirname(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));
const yaml: { readonly load: (text: string) => unknown } = createRequire(join(sdk, "x"))("js-yaml");

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

test.each(workflows)("%s names every action by its commit", (name) => {
  const uses = [...read(name).matchAll(/uses: (.*)/g)].map(([, action = ""]) => action);
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
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const named = [...read(name).matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});

test("the tests run on the least Node that a user may have", () => {
  expect(read("ci.yml")).toContain(`"${leastNode}"`);
});

test("a release is published by its own job, with provenance, after the check", () => {
  expect(yaml.load(read("release.yml"))).toMatchObject({
    on: { push: { tags: ["v*"] } },
    jobs: { publish: { needs: "check", permissions: { contents: "read", "id-token": "write" } } },
  });
  expect(read("release.yml")).toContain("npm publish --provenance");
  expect(read("release.yml").match(/id-token/g)).toHaveLength(1);
});
