import type { OutputMap, PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import type { HubCall, HubRecords } from "../checks/hub-records.js";
import type { EmulatedTime } from "../conversations/waiting.js";
import { runFailure, StackFailure } from "./stack-failure.js";
import { guardedProgram } from "./stack-program.js";

/** What a run of Pulumi did. */
export interface StackRun {
  /** Resources by what was done with them, such as `{ create: 8, same: 1 }`; the stack itself counts. */
  readonly changes: Readonly<Record<string, number>>;
  /** Calls that the run made, in order. */
  readonly calls: readonly HubCall[];
  /** What Pulumi printed, without colours. */
  readonly printed: string;
}

/** The commands of Pulumi that a test runs. */
export type PulumiCommandName = "up" | "preview" | "refresh" | "destroy";

/** What the commands of the Automation API take and give, as far as all have it. */
interface Ended {
  readonly summary?: { readonly resourceChanges?: Readonly<Record<string, number>> };
  readonly changeSummary?: Readonly<Record<string, number>>;
  readonly outputs?: OutputMap;
}

interface RunOptions {
  readonly color: "never";
  readonly onOutput: (text: string) => void;
  readonly onError: (text: string) => void;
  readonly signal: AbortSignal;
  readonly program?: PulumiFn;
}

const commands: Readonly<
  Record<PulumiCommandName, (stack: Stack, options: RunOptions) => Promise<Ended>>
> = {
  up: (stack, options) => stack.up({ ...options, showSecrets: true }),
  preview: (stack, options) => stack.preview(options),
  refresh: (stack, options) => stack.refresh(options),
  destroy: (stack, options) => stack.destroy(options),
};

const countsIn = ({ summary, changeSummary }: Ended): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(changeSummary ?? summary?.resourceChanges ?? {}));

/** What a run works with. */
interface RunMeans {
  readonly stack: Stack;
  readonly records: HubRecords;
  readonly time: EmulatedTime;
  /** Ends the run: the stack is closed. */
  readonly signal: AbortSignal;
}

/** Runs a command on a stack, while the emulator's clock goes along. */
export const runPulumi = async (
  command: PulumiCommandName,
  { stack, records, time, signal }: RunMeans,
  program: PulumiFn | undefined = stack.workspace.program,
): Promise<StackRun & { readonly outputs: OutputMap }> => {
  const before = (await records.calls()).length;
  let printed = "";
  let thrown: unknown;
  const add = (text: string): void => {
    printed += text;
  };
  const told = program && guardedProgram(program, (error) => (thrown = error));
  const options = { color: "never", onOutput: add, onError: add, signal } as const;
  try {
    const ended = await time.during(() =>
      commands[command](stack, told ? { ...options, program: told } : options),
    );
    const calls = (await records.calls()).slice(before);
    return { changes: countsIn(ended), calls, printed, outputs: ended.outputs ?? {} };
  } catch (error) {
    if (signal.aborted)
      throw new StackFailure(`pulumi ${command} was ended: the stack was closed while it ran.`);
    throw runFailure(command, printed, thrown ?? error);
  }
};
