import { describe, expect, test } from "vitest";
import { excluding, forPreview, optionNotHandedOn } from "../../cli/rehearse/pulumi-options.js";

test("a preview gets what it takes", () => {
  const args = ["--yes", "--target", "urn:a", "--show-secrets", "--strict", "-f", "--parallel=4"];
  expect(forPreview(args)).toEqual(["--target", "urn:a", "--parallel=4"]);
});

test.each([
  "--target",
  "--target=urn:a",
  "-t",
  "-turn:a",
  "--target-replace",
  "--target-replace=u",
])("%s names targets, beside which Pulumi takes no --exclude", (option) => {
  expect(excluding(["urn:b"], [option])).toEqual([]);
});

describe("what is not handed on", () => {
  test.each([
    ...[["--stack=other"], ["-s", "other"], ["-C", "/elsewhere"], ["-C/elsewhere"], ["-s=other"]],
    ...[
      ["-yC", "/elsewhere"],
      ["--config-file", "x"],
      ["--secrets-provider", "passphrase"],
    ],
    ...[["-c", "conversation:us.baseUrl=https://x.example.com/v3"]],
    ...[["--config=conversation:us.baseUrl=https://x.example.com/v3"]],
    ...[["--override-env", "CONVERSATION_US_BASE_URL=https://x.example.com/v3"]],
    ...[["--override-env=PULUMI_BACKEND_URL=file:///x"], ["--json"], ["-j"]],
  ])("%s %s", (...args) => {
    expect(optionNotHandedOn(["--parallel", "4", ...args])).toBe(args[0]);
  });

  test.each([
    ...[
      ["-c", "title=x"],
      ["--config", "aws:region=x"],
      ["--override-env", "TITLE=x"],
    ],
    ...[["--target", "urn:pulumi:s::C::s"], ["-turn:pulumi:prod::C"], ["-p4"], ["-r"], ["--diff"]],
    ...[["-m", "a change"], ["--show-config"], ["--suppress-outputs"], ["--continue-on-error"]],
  ])("but %s %s is", (...args) => {
    expect(optionNotHandedOn(args)).toBeUndefined();
  });
});
