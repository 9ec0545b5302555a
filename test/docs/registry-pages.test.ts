import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import { LEAST_PULUMI } from "../../cli/pulumi/pulumi-cli.js";
import { leastNode } from "../../provider/kernel/node-version.js";
import { packageSchema } from "../../provider/plugin/schema.js";
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
