import { expect, test } from "vitest";
import { isAtLeast, versionIn } from "../../provider/pulumi-cli/pulumi-cli.js";

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
