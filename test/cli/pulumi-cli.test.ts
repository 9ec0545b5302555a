import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkPulumi } from "../../cli/doctor/diagnose.js";
import {
  findProgram,
  hostLimits,
  inspectPulumi,
  isAtLeast,
  versionIn,
} from "../../cli/pulumi/pulumi-cli.js";
import { fakePulumi, shellScript, temporaryFolder } from "../support/temporary-folder.js";

test.each([
  ["v3.259.0", [3, 259, 0]],
  ["go version go1.26.8 linux/amd64", [1, 26, 8]],
  ["3.260.0-alpha.1+dirty", [3, 260, 0]],
  ["go version go1.26 linux/arm64", [1, 26, 0]],
  ["no version", undefined],
])("finds the version in %j", (text, version) => {
  expect(versionIn(text)).toEqual(version);
});

test.each([
  ["3.254.0", "3.254.0", true],
  ["3.254.1", "3.254.0", true],
  ["3.253.9", "3.254.0", false],
  ["4.0.0", "3.254.0", true],
  ["2.999.0", "3.254.0", false],
  ["10.0.0", "9.9", true],
  ["nothing", "1.0", false],
])("%s is at least %s: %s", (have, need, expected) => {
  expect(isAtLeast(have, need)).toBe(expected);
});

test("the first folder of PATH that holds the program wins", () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  shellScript(join(first, "tool"), "");
  shellScript(join(second, "tool"), "");
  expect(findProgram("tool", `/nowhere::${second}:${first}`)).toBe(join(second, "tool"));
});

test("a file that cannot be run is no program", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "tool"), "");
  expect(findProgram("tool", folder)).toBeUndefined();
});

test("a CLI that is new enough and complete is used", async () => {
  const folder = temporaryFolder();
  const command = fakePulumi(folder, "3.254.0");
  expect(await inspectPulumi(command, "PATH", {})).toEqual({
    cli: { command, bin: folder, version: "3.254.0", origin: "PATH" },
  });
});

test("an old CLI is named with its version", async () => {
  const command = fakePulumi(temporaryFolder(), "3.253.9");
  expect(await inspectPulumi(command, "PATH", {})).toEqual({
    unusable: `${command} is version 3.253.9, older than 3.254.0`,
  });
});

test("a CLI without its language host is refused", async () => {
  const folder = temporaryFolder();
  const command = fakePulumi(folder, "3.300.0");
  rmSync(join(folder, "pulumi-language-nodejs"));
  expect(await inspectPulumi(command, "PATH", {})).toEqual({
    unusable: `${command} is missing pulumi-language-nodejs, which must be in its folder or on PATH`,
  });
});

test("a language host that knows no hooks is recognized by how Go built it, and doctor says what fails", async () => {
  const folder = temporaryFolder();
  const command = fakePulumi(folder, "3.300.0");
  const env = { PATH: folder };
  expect(hostLimits({ command }, env)).toBeUndefined();
  expect(await checkPulumi(env)).toMatchObject({ status: "ok" });
  const built = (path: string) =>
    writeFileSync(join(folder, "pulumi-language-nodejs"), `ELF\0path\t${path}\nmod\tbuild\n`);
  built("github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3");
  expect(await checkPulumi(env)).toMatchObject({ status: "ok" });
  built("github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs");
  const { status, advice } = await checkPulumi(env);
  expect(status).toBe("warn");
  expect(advice).toMatch(
    /release 3\.68, because .* Go modules\. Programs with resource hooks.*pulumi\.com\/docs\/install/,
  );
});

test("the companions may stand elsewhere on PATH, or beside the file that a link points at", async () => {
  const [real, links, hosts] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  fakePulumi(real, "3.300.0");
  symlinkSync(join(real, "pulumi"), join(links, "pulumi"));
  expect(await inspectPulumi(join(links, "pulumi"), "PATH", {})).toHaveProperty("cli");
  fakePulumi(hosts, "3.300.0");
  rmSync(join(real, "pulumi-language-nodejs"));
  expect(await inspectPulumi(join(links, "pulumi"), "PATH", { PATH: hosts })).toHaveProperty("cli");
});

test("a program that fails is no CLI", async () => {
  const command = shellScript(join(temporaryFolder(), "pulumi"), "echo v3.300.0", "exit 1");
  expect(await inspectPulumi(command, "PATH", {})).toEqual({ unusable: `${command} does not run` });
});
