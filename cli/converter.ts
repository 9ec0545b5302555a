#!/usr/bin/env node
import { assertNode } from "../provider/kernel/node-version.js";

/** Serves the converter that `pulumi import --from conversation` starts, until Pulumi ends it. */
const serve = async (): Promise<void> => {
  assertNode();
  const { interruption } = await import("./interruption.js");
  const { convertState, serveConverter } = await import("./import/converter.js");
  const { signal } = interruption();
  const { port, close } = await serveConverter(convertState);
  signal.addEventListener("abort", () => {
    close();
    process.exit();
  });
  // Pulumi reads the first line.
  process.stdout.write(`${port}\n`);
};

serve().catch((error) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
