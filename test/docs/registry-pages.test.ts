import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import { leastNode } from "../../provider/kernel/node-version.js";
import { packageSchema } from "../../provider/plugin/schema.js";
import { isAtLeast, LEAST_PULUMI } from "../../provider/pulumi-cli/pulumi-cli.js";
import { readPage } from "./pages.js";

/* What Pulumi's registry asks of a community package (pull request template of pulumi/registry). */

const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
const installation = readPage("docs/installation-configuration.md");

test.each(["docs/_index.md", "docs/installation-configuration.md"])(
  "%s has the front matter of a package",
  (page) => {
    const [, matter = ""] = /^---\n([\s\S]*?)\n---\n/.exec(readPage(page)) ?? [];
    expect(matter).toMatch(/^title: \S.*\nmeta_desc: \S.*\nlayout: package$/);
  },
);

test("the overview has a program in every language", () => {
  const overview = readPage("docs/_index.md");
  expect(overview).toMatch(/```typescript\nimport .* from "pulumi-conversation";/);
  const { nodejs: _, ...plugin } = packageSchema().language;
  for (const language of [...Object.keys(plugin), "yaml"])
    expect(overview).toContain(`\`\`\`${language}\n`);
});

test("the installation names the SDK and configures it both ways", () => {
  expect(installation).toContain(`npm install ${manifest.name}`);
  expect(installation).toContain(`https://www.npmjs.com/package/${manifest.name}`);
  expect(installation).toMatch(/^pulumi config set conversation:baseUrl /m);
  expect(installation).toMatch(/^export CONVERSATION_BASE_URL=/m);
});

test("the installation adds the plugin as its guide does", () => {
  const [command = "nothing"] =
    /^pulumi package add .*$/m.exec(readPage("docs/guides/plugin.md")) ?? [];
  expect(installation).toContain(`\n${command}\n`);
});

const cellsOf = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

/** What stands in a column of the tables on the page of the install matrix. */
const triedIn = (column: string): readonly string[] =>
  [...readPage("docs/install-matrix.md").matchAll(/(?:^\|.*\n)+/gm)].flatMap(([table]) => {
    const [heading = [], , ...rows] = table.trim().split("\n").map(cellsOf);
    const at = heading.indexOf(column);
    return at < 0 ? [] : rows.map((row) => row[at] ?? "");
  });

/** Such as 3.254 and 3.254.0: the shorter of the two names any release of its line. */
const isSameRelease = (one: string, other: string): boolean =>
  `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);

test.each([
  ["Pulumi CLI", "CLI"],
  ["`@pulumi/pulumi`", "SDK"],
  ["Node.js", "Node"],
  ["TypeScript", "TypeScript"],
])("the oldest and the newest %s are those that the install matrix has tried", (name, column) => {
  const [, oldest = "", , newest = ""] = cellsOf(
    installation.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "",
  );
  const versions = triedIn(column);
  expect(versions.length).toBeGreaterThan(10);
  const isTried = (given: string) => versions.some((version) => isSameRelease(given, version));
  expect([isTried(oldest.split(" ")[0] ?? ""), isTried(newest)]).toEqual([true, true]);
  expect(versions.filter((version) => !isAtLeast(`${newest}.0`, `${version}.0`))).toEqual([]);
});

test("the oldest and the tested versions are those that the package and its commands ask for", () => {
  const row = (name: string): readonly string[] =>
    (installation.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "")
      .split("|")
      .slice(2, 4)
      .map((cell) => cell.trim());
  const [leastSdk] = /\d+\.\d+\.\d+/.exec(manifest.peerDependencies["@pulumi/pulumi"]) ?? [];
  const [cli = "", testedCli] = row("Pulumi CLI");
  expect([`${cli.split(" ")[0]}.0`, testedCli]).toEqual([LEAST_PULUMI, release.version]);
  expect(row("`@pulumi/pulumi`")).toEqual([leastSdk, manifest.devDependencies["@pulumi/pulumi"]]);
  expect(row("Node.js")[0]).toBe(leastNode);
  expect(manifest.engines.node).toBe(`>=${leastNode}`);
});
