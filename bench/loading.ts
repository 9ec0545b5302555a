import { execFileSync } from "node:child_process";
import { textTable } from "../cli/terminal/columns.js";
import { packageRoot } from "../provider/kernel/package.js";

/** Loads modules in order, and prints the milliseconds and the megabytes that each one takes. */
const script = `
const megabytes = () => process.memoryUsage.rss() / 2 ** 20;
const taken = process.argv.slice(1).map((name) => {
  const [start, before] = [performance.now(), megabytes()];
  require(name);
  return [performance.now() - start, megabytes() - before];
});
console.log(JSON.stringify(taken.flat()));`;

const turns = 7;

/** Loading Pulumi's SDK and then this package, the least of several processes. */
export const measureLoading = (): readonly string[] => {
  const args = ["-e", script, "@pulumi/pulumi", packageRoot()];
  const options = { cwd: packageRoot(), encoding: "utf8" } as const;
  const runs = Array.from({ length: turns }, (): unknown =>
    JSON.parse(execFileSync(process.execPath, args, options)),
  );
  const least = (place: number): string =>
    Math.min(...runs.map((run) => (Array.isArray(run) ? Number(run[place]) : 0))).toFixed(1);
  const heading = ["Loading", "ms", "MB"];
  return textTable(heading, [
    ["@pulumi/pulumi", least(0), least(1)],
    ["after it, pulumi-conversation", least(2), least(3)],
  ]);
};
