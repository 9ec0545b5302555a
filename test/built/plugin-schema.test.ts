import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { packageSchema } from "../../provider/plugin/schema.js";
import { folderOfFile, shellScript } from "../support/temporary-folder.js";

const folder = folderOfFile();
const bin = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";
const plugin = join(folder, "pulumi-resource-conversation");

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

const pulumi = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const env = {
      ...process.env,
      PATH: [bin, process.env.PATH].join(delimiter),
      PULUMI_HOME: join(folder, "home"),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    };
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
    execFile(join(bin, "pulumi"), args, options, (error, output, errors) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      resolve({ code, output, errors });
    });
  });

beforeAll(() => {
  const script = join(__dirname, "..", "..", "dist", "provider", "plugin", "main.js");
  shellScript(plugin, `exec "${process.execPath}" "${script}" "$@"`);
});

test("Pulumi reads the schema from the plugin", async () => {
  const { code, output, errors } = await pulumi("package", "get-schema", plugin);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  const read: unknown = JSON.parse(output);
  // Pulumi leaves out what is empty.
  const served = JSON.stringify(packageSchema(), (_, value: unknown) =>
    Array.isArray(value) && value.length === 0 ? undefined : value,
  );
  expect(read).toMatchObject(JSON.parse(served));
});

test("Pulumi's own check finds nothing to object to in the schema", async () => {
  const file = join(folder, "schema.json");
  writeFileSync(file, JSON.stringify(packageSchema()));
  expect(await pulumi("schema", "check", file)).toEqual({ code: 0, output: "", errors: "" });
});
