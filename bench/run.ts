import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { messageOf } from "../cli/command.js";
import { interruption } from "../cli/interruption.js";
import { measureEngine } from "./engine.js";
import { measureLoading } from "./loading.js";
import { measureOverhead } from "./overhead.js";
import { measurePacing } from "./pacing.js";
import { measureRealTime } from "./real-time.js";

const options = { redis: { type: "string" } } as const;

/** Measures the named parts or everything, one part after the other, so that none disturbs another. */
const main = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const { signal, release } = interruption();
  const parts = {
    pacing: measurePacing,
    "real-time": () => measureRealTime(values.redis),
    overhead: measureOverhead,
    loading: measureLoading,
    engine: () => measureEngine(signal),
  };
  try {
    for (const [name, measure] of Object.entries(parts))
      if (positionals.length === 0 || positionals.includes(name))
        console.log(`${(await measure()).join("\n")}\n`);
    console.log(
      `${availableParallelism()} cores, Node ${process.versions.node}; see docs/bench.md.`,
    );
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
