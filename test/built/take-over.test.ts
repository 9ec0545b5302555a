import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { shellScript } from "../cli/temporary-folder.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { oddAccount, oddCanary, oddId } from "../support/odd-account.js";

const root = join(__dirname, "..", "..");

let project: EmulatedProject;
afterEach(() => project?.close());

interface Exported {
  readonly secrets: readonly { readonly key: string }[];
}

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), "utf8")]),
  );

/** An account of 60 objects that others made, and a project in front of it. */
const account = async (secrets: string): Promise<void> => {
  project = await emulatedProject("");
  await project.control("PUT", "/snapshot", {
    version: 1,
    objects: oddAccount(),
    switches: { secrets },
  });
  symlinkSync(
    join(root, "node_modules", "typescript"),
    join(project.folder, "node_modules", "typescript"),
  );
};

const inTaken = (args: readonly string[], environment = {}) =>
  project.pulumi(["--cwd", join(project.folder, "taken"), ...args], environment);

const succeeds = async (args: readonly string[], environment = {}): Promise<string> => {
  const { code, output } = await inTaken(args, environment);
  expect(code, output).toBe(0);
  return output;
};

/** Exports, checks the types, and sets the secrets. */
const prepared = async (...more: readonly string[]): Promise<void> => {
  const { code, output, errors } = await project.tool([
    "export",
    "--out",
    "taken",
    "--json",
    ...more,
  ]);
  expect(code, errors).toBe(0);
  const { secrets } = JSON.parse(output) as Exported;
  const folder = join(project.folder, "taken");
  expect(JSON.stringify(filesIn(folder))).not.toContain(oddCanary);
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [compiler, "-p", folder], { stdio: "pipe" });
  await succeeds(["stack", "init", "prod"]);
  const calls = (await project.log()).length;
  const unset = await inTaken(["up", "--yes", "--skip-preview"]);
  expect(unset.code).not.toBe(0);
  expect(unset.output).toContain("Missing required configuration variable");
  expect(await project.log()).toHaveLength(calls);
  const values = secrets.flatMap(({ key }) => ["--secret", `${key}=any-value`]);
  await succeeds(["config", "set-all", ...values]);
};

const writes = async () => (await project.log()).filter(({ method }) => !["GET"].includes(method));

/** Nothing changes, nothing was written, nothing is in clear; a deletion takes what it is asked for. */
const isTakenOver = async (): Promise<void> => {
  await succeeds(["preview", "--expect-no-changes"]);
  await succeeds(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
  await succeeds(["preview", "--refresh", "--expect-no-changes"]);
  expect((await writes()).filter(({ template }) => !template.includes("token"))).toEqual([]);
  expect(await succeeds(["stack", "export"])).not.toContain(oddCanary);
  const urn = "urn:pulumi:prod::taken::pulumi-nodejs:dynamic/conversation:Account::orders-bot";
  await succeeds(["destroy", "--yes", "--skip-preview", "--target", urn]);
  const left = await project.objects();
  expect(left).toHaveLength(59);
  expect(left.map(({ id }) => id)).not.toContain(oddId(6, 2));
};

const importFlags = ["--generate-code=false", "--protect=false", "--yes", "--skip-preview"];

test("masked secrets, through the import file of the export", async () => {
  await account("mask");
  await prepared();
  await succeeds(["import", "--file", "import.json", ...importFlags]);
  await isTakenOver();
});

test("echoed secrets, through pulumi import --from conversation", async () => {
  await account("echo");
  await prepared("--split", "by-kind");
  const bin = join(project.folder, "bin");
  mkdirSync(bin);
  const converter = join(root, "dist", "cli", "converter.js");
  const line = `exec "${process.execPath}" "${converter}" "$@"`;
  shellScript(join(bin, "pulumi-converter-conversation"), line);
  const pulumi = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";
  const environment = { PATH: [bin, pulumi, process.env.PATH].join(delimiter) };
  const from = ["import", "--from", "conversation", ...importFlags];
  const wrong = await inTaken([...from, "--", "--include", "nothing-like-this"], environment);
  expect(wrong.output).toContain('--include "nothing-like-this" is no kind');
  await succeeds([...from, "--", "--exclude", "Account:orders-bot"], environment);
  await succeeds([...from, "--", "--include", "Account:orders-bot"], environment);
  const again = await inTaken([...from, "--", "--include", "Channel"], environment);
  expect(again.code).not.toBe(0);
  expect(again.output).toContain("the state already has it: urn:pulumi:prod");
  await isTakenOver();
});

test("omitted secrets, through the command import, which shows first", async () => {
  await account("omit");
  await prepared();
  const shown = await project.tool(["import"], {}, "taken");
  expect(shown.output).toContain("Nothing was imported");
  expect(await succeeds(["stack", "export"])).not.toContain("dynamic/conversation");
  expect((await project.tool(["import", "--apply"], {}, "taken")).errors).toContain(
    "Imported 60 objects",
  );
  const again = await project.tool(["import", "--apply"], {}, "taken");
  expect(again.code).toBe(1);
  expect(again.errors).toContain("the state already has it");
  await isTakenOver();
});
