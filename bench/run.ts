import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { messageOf } from "../cli/command.js";
import { interruption } from "../cli/interruption.js";
import { measureEngine } from "./engine.js";
import { measureLoading } from "./loading.js";
import { measureOverhead } from "./overhead.js";
import { measurePacing } from "./pacing.js";
import { measureRealTime } from "./real-time.js";

const options = {
  "no-engine": { type: "boolean", default: false },
  redis: { type: "string" },
} as const;

/** Measures everything, one part after the other, so that none disturbs another. */
const main = async (args: readonly string[]): Promise<void> => {
  const wanted = parseArgs({ args: [...args], options }).values;
  const { signal, release } = interruption();
  const print = (lines: readonly string[]) => console.log(`${lines.join("\n")}\n`);
  try {
    print(await measurePacing());
    print(await measureRealTime(wanted.redis));
    print(await measureOverhead());
    print(measureLoading());
    if (!wanted["no-engine"]) print(await measureEngine(signal));
    print([`${availableParallelism()} cores, Node ${process.versions.node}; see docs/bench.md.`]);
  } finally {
    release();
  }
};

main(process.argv.slice(2)).then(
  // Idle connections need not be waited for.
  () => process.exit(0),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(1);
  },
);
