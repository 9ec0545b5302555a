import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../provider/kernel/package.js";

/** What a user combines: one row of the page's table. */
export interface Combination {
  readonly manager: string;
  readonly place: string;
  readonly program: string;
  readonly cli: string;
  readonly sdk: string;
  readonly typescript: string;
  readonly node: string;
}

/** The rows of the page, in which every two values meet at least once. */
export const readRows = (): readonly Combination[] => {
  const page = readFileSync(join(packageRoot(), "docs", "install-matrix.md"), "utf8");
  const [, , ...lines] = page.split("\n").filter((line) => line.startsWith("|"));
  return lines.map((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    const [, manager = "", place = "", program = "", cli = "", sdk = "", ...more] = cells;
    const [typescript = "", node = ""] = more;
    return { manager, place, program, cli, sdk, typescript, node };
  });
};
