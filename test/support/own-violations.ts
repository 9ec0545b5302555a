import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach } from "vitest";
import "./seen-violations.js";

// Files follow each other in one process.
process.env.TEST_VIOLATIONS_FILE = join(tmpdir(), `conversation-violations-${randomUUID()}`);

/** What did not fit the description since the last look, in this process and in those that it started. */
export const takeViolations = (): readonly string[] => {
  const { TEST_VIOLATIONS_FILE: file = "" } = process.env;
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  rmSync(file);
  return [...new Set(lines)];
};

const assertNone = (): void => {
  const wrong = takeViolations();
  if (wrong.length > 0)
    throw new Error(`The vendor's description has it differently:\n  ${wrong.join("\n  ")}`);
};

afterEach(assertNone);
afterAll(assertNone);
