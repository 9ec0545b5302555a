import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../provider/kernel/package.js";

const shown = (): string => {
  const readme = readFileSync(join(packageRoot(), "README.md"), "utf8");
  const [, block] = /```\n(Ada \(customer\)[^`]*)\n```/.exec(readme) ?? [];
  if (block === undefined) throw new Error("README.md shows no conversation of the quick start.");
  return block;
};

/** What examples/orders-bot says of its conversation: the transcript of README.md, and the file. */
export const transcript: readonly string[] = [
  ...shown().split("\n"),
  "",
  "The customer downloaded open-orders.csv: 78 bytes, identical to what the bot",
  "uploaded (SHA-256 fb8f61549ae8…).",
];
