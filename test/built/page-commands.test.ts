import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pageCommands, simpleCommands } from "../docs/page-commands.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { type PageShell, pageShell } from "../support/page-shell.js";

const program = `
const { Authentication, ConversationAccount, fromEnv } = require("pulumi-conversation");
const password = process.env.DESK_PASSWORD === undefined ? "first" : fromEnv("DESK_PASSWORD", { version: "2" });
const authentication = new Authentication("login", { basicAuth: { username: "u", password } });
const party = (side) => ({
  callback: "https://" + side + ".example.com/", notificationEmail: "o@example.com", authentication,
});
new ConversationAccount("shop", {
  address: "shop-web", channel: { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" },
  customer: party("customer"), bot: party("bot"), agent: party("agent"), chatConfigurations: { entryPoint: "1007" },
});`;

let project: EmulatedProject;
let shell: PageShell;

beforeAll(async () => {
  project = await emulatedProject(program, {}, { CONVERSATION_PLAN: "enterprise" });
  await project.succeed(["up", "--yes", "--skip-preview"]);
  shell = pageShell(project);
  const manifest = { name: "shop", main: "index.js", scripts: { test: "node -e 0" } };
  writeFileSync(join(project.folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(project.folder, "FILE"),
    JSON.stringify(await project.control("GET", "/snapshot")),
  );
});

afterAll(() => project?.close());

/**
 * What a person answers to a question of Pulumi's: a secret is typed, an update agreed to. A project that
 * a page puts beside this one goes into it: what is beside it is not the test's. Packages are fetched for
 * the other project that is made.
 */
const answered = (text: string): string =>
  text
    .replace(/^pulumi up$/, "pulumi up --yes --skip-preview")
    .replace(/\.\.\/shop(.*)/, "./new-shop$1 --no-install");

/** Pages whose lines run here; those of other guides run in tests of their own. */
const pagesHere: readonly string[] = [
  "README.md",
  "docs/explain.md",
  "docs/drift.md",
  "docs/emulator.md",
  "docs/installation-configuration.md",
  "docs/guides/first-account.md",
  "docs/guides/rate-limits.md",
  "docs/guides/secrets.md",
];

/** Lines that no test runs as they stand; their options, scripts and files are checked all the same. */
const onlyChecked: readonly (readonly [RegExp, string])[] = [
  [/^git clone /, "the address of the repository is not known here"],
  [/^npm (ci|install|test)/, "fetches packages, or runs these very tests"],
  [/^npm run quickstart/, "quickstart.test.ts runs it, and its --destroy"],
  [/^docker /, "there is no Docker; container.test.ts checks the image's file"],
  [
    /^npx pulumi-conversation emulator --plan enterprise$/,
    "does not end; emulator.test.ts runs it",
  ],
  [/^pulumi package add /, "needs a language host; plugin-languages.test.ts runs it"],
  [
    /^npx pulumi-conversation explain --check/,
    "explain/command.test.ts runs it; without options it runs here",
  ],
  [
    /^npx pulumi-conversation forecast --/,
    "forecast/forecast.test.ts runs it; without options it runs here",
  ],
  [/^npm run emulator -- /, "does not end, or is run by new-project.test.ts"],
  [/^cd |^export .*(<|…)/, "holds what only the reader knows, or only moves about"],
  [/^pulumi config set .*…/, "holds what only the reader knows"],
  [
    /^pulumi stack init prod$/,
    "page-commands.test.ts runs in a stack of that name; take-over.test.ts makes it",
  ],
];

const isRunHere = ({ page, text }: (typeof pageCommands)[number]): boolean =>
  pagesHere.includes(page) && !onlyChecked.some(([pattern]) => pattern.test(text));

/** Each once: pages repeat what a reader of one page alone needs. */
const lines = [
  ...new Map(pageCommands.filter(isRunHere).map((command) => [command.text, command])).values(),
];

test("every command of these pages does what a reader expects", {
  timeout: 1_800_000,
}, async () => {
  expect(lines.length).toBeGreaterThan(15);
  let exported = "";
  const wrong: string[] = [];
  for (const { page, line, text } of lines) {
    if (text.startsWith("export ")) {
      // The credentials are those of the emulator already.
      exported = text.startsWith("export CONVERSATION_") ? "" : `${text} && `;
      continue;
    }
    const { code, output } = await shell(exported + answered(text));
    if (code !== 0) wrong.push(`${page}:${line}: ${text}: ${code}\n${output}`);
  }
  expect(wrong).toEqual([]);
});

test("Pulumi has every command and option that the pages name", async () => {
  const used = new Map<string, Set<string>>();
  for (const [name, ...words] of pageCommands.flatMap(({ text }) => simpleCommands(text))) {
    if (name !== "pulumi") continue;
    const command = words.slice(0, /^(stack|config)$/.test(words[0] ?? "") ? 2 : 1).join(" ");
    const options = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0]);
    const known = used.get(command) ?? new Set();
    for (const option of options) known.add(option ?? "");
    used.set(command, known);
  }
  expect(used.size).toBeGreaterThan(4);
  for (const [command, options] of used) {
    const { code, output } = await shell(`pulumi ${command} --help`);
    expect([command, code]).toEqual([command, 0]);
    for (const option of options) expect(output, `pulumi ${command}`).toContain(option);
  }
});
