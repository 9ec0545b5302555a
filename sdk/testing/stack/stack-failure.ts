/**
 * A stack could not be set up for a test, or a run of Pulumi failed. The message stands alone: what
 * was being done, what Pulumi said, what to do next.
 *
 * @throws nothing: making one never fails
 * @example
 * try {
 *   await stack.up();
 * } catch (error) {
 *   if (!(error instanceof StackFailure)) throw error;
 *   console.error(error.message);
 * }
 */
export class StackFailure extends Error {
  /** Always `StackFailure`. */
  override readonly name = "StackFailure";
}

const sections = /^(Diagnostics|Outputs|Resources|Duration|Policies|Previewing update|Updating)\b/;

/** What Pulumi says was wrong: its diagnostics; where it printed none, all that it printed last. */
const diagnosticsIn = (printed: string): string => {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  const from = lines.lastIndexOf("Diagnostics:");
  const rest = from < 0 ? lines.slice(-20) : lines.slice(from + 1);
  const end = from < 0 ? -1 : rest.findIndex((line) => sections.test(line));
  const kept = (end < 0 ? rest : rest.slice(0, end)).filter((line) => line.trim() !== "");
  return kept.join("\n");
};

/** A run of Pulumi that failed, with what it said. */
export const runFailure = (command: string, printed: string, cause: unknown): StackFailure =>
  new StackFailure(`pulumi ${command} failed. Pulumi says:\n${diagnosticsIn(printed)}`, { cause });
