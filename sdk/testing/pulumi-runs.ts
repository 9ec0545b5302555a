import type { RequestListener } from "node:http";
import * as pulumi from "@pulumi/pulumi";
import type { OutputMap, PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import type { Emulator, EmulatorOptions } from "../../emulator/index.js";
import type { Callbacks } from "../runtime/callbacks.js";
import type { ConversationClient } from "../runtime/connect.js";
import { errorText, type HubCall, type HubRecords } from "./checks.js";
import type { EmulatedTime } from "./test-conversation.js";

/** A value in the stack's configuration: plain text, or a secret. */
export type StackConfigValue = string | { readonly value: string; readonly secret: boolean };

/** The handler for a callback in a test: one from `callbacks`, or a node:http listener. */
export type CallbackHandler = Pick<Callbacks, "node" | "idle"> | RequestListener;

/** Handlers, keyed by callback URL as written in the program. */
export type CallbackHandlers = Readonly<Record<string, CallbackHandler>>;

/** Objects that handlers can use to reply. */
export interface HandlerContext {
  /** A client for the emulator. */
  readonly client: ConversationClient;
  /** The emulator itself. */
  readonly emulator: Emulator;
}

/** Options for setting up a stack for a test. */
export interface EmulatedStackOptions {
  /**
   * The program: a function for the Automation API, or a Pulumi project's folder. The project file
   * is used, but stack configuration files are not.
   */
  readonly program: PulumiFn | string;
  /** Stack configuration; keys without a namespace belong to the project. Default: none. */
  readonly config?: Readonly<Record<string, StackConfigValue>>;
  /**
   * Handlers for the account's callbacks. For any other callback that is not on this machine, the
   * test responds with 202, so that no message leaves the machine. Default: none.
   */
  readonly callbacks?: CallbackHandlers | ((context: HandlerContext) => CallbackHandlers);
  /**
   * Options for the emulator. Default: no rate limits, and a manual clock. The clock follows real
   * time while Pulumi runs or a conversation waits, and is otherwise stopped. Over HTTP, the
   * control interface requires a random secret.
   */
  readonly emulator?: Omit<EmulatorOptions, "callbackRoute">;
  /** Profiles that the program uses, all of which connect to the emulator. Default: no profile. */
  readonly profiles?: readonly string[];
  /** Additional environment variables for the run. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Name of the project if the program is a function. Default: `test`. */
  readonly projectName?: string;
  /** Name of the stack. Default: `test`. */
  readonly stackName?: string;
  /** The `pulumi` executable. Default: the one on PATH. */
  readonly pulumi?: string;
}

/**
 * The error thrown if a test stack cannot be set up or a Pulumi run fails. The message states what was
 * being done, what Pulumi reported, and what to do next.
 *
 * @throws nothing: the constructor never fails
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

/** What Pulumi says was wrong: its diagnostics; if it printed none, all that it printed last. */
const diagnosticsIn = (printed: string): string => {
  const lines = printed.split("\n").map((line) => line.trimEnd());
  const from = lines.lastIndexOf("Diagnostics:");
  const rest = from < 0 ? lines.slice(-20) : lines.slice(from + 1);
  const end = from < 0 ? -1 : rest.findIndex((line) => sections.test(line));
  const kept = (end < 0 ? rest : rest.slice(0, end)).filter((line) => line.trim() !== "");
  return kept.join("\n");
};

/**
 * A program whose failure is reported by Pulumi alone. One that throws within the Automation API also
 * leaves a rejection that nobody handles, for which test runners fail tests that have nothing to do
 * with it.
 *
 * @param failed called with what the program threw
 */
const guardedProgram =
  (program: PulumiFn, failed: (error: unknown) => void): PulumiFn =>
  async () => {
    try {
      return await program();
    } catch (error) {
      failed(error);
      // An error in the log fails the run, and deletes nothing that was not declared any more.
      await pulumi.log.error(`The program failed: ${errorText(error)}`);
      return undefined;
    }
  };

/** A stack's Pulumi runs, which are interrupted when the stack is closed. */
export class OpenRuns {
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly signal: AbortSignal = this.#controller.signal;

  async add<T>(run: () => Promise<T>): Promise<T> {
    if (this.signal.aborted)
      throw new StackFailure("The stack is closed and accepts no more runs.");
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Interrupts Pulumi. */
  abort(): void {
    this.#controller.abort();
  }

  /** Interrupts Pulumi, and resolves when the last run has ended. */
  async end(): Promise<void> {
    this.abort();
    await Promise.allSettled([...this.#running]);
  }
}

/** The result of a Pulumi run. */
export interface StackRun {
  /** Number of resources per operation, such as `{ create: 8, same: 1 }`, including the stack itself. */
  readonly changes: Readonly<Record<string, number>>;
  /** Calls to the service during the run, in order. */
  readonly calls: readonly HubCall[];
  /** Pulumi's output, without colors. */
  readonly printed: string;
}

/** The Pulumi commands that a test can run. */
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

/**
 * Runs a command on a stack while the emulator's clock follows real time.
 *
 * @param signal aborts the run when the stack is closed
 */
export const runPulumi = async (
  command: PulumiCommandName,
  {
    stack,
    records,
    time,
    signal,
  }: { stack: Stack; records: HubRecords; time: EmulatedTime; signal: AbortSignal },
  program: PulumiFn | undefined = stack.workspace.program,
): Promise<StackRun & { readonly outputs: OutputMap }> => {
  const before = (await records.calls()).length;
  let printed = "";
  let thrown: unknown;
  const add = (text: string): void => {
    printed += text;
  };
  const guarded = program && guardedProgram(program, (error) => (thrown = error));
  const options = { color: "never", onOutput: add, onError: add, signal } as const;
  try {
    const ended = await time.during(() =>
      commands[command](stack, guarded ? { ...options, program: guarded } : options),
    );
    const calls = (await records.calls()).slice(before);
    const { summary, changeSummary, outputs = {} } = ended;
    const changes = { ...(changeSummary ?? summary?.resourceChanges) };
    return { changes, calls, printed, outputs };
  } catch (error) {
    if (signal.aborted)
      throw new StackFailure(
        `Could not finish pulumi ${command}: the stack was closed while the command was running.`,
      );
    throw new StackFailure(`pulumi ${command} failed. Pulumi reports:\n${diagnosticsIn(printed)}`, {
      cause: thrown ?? error,
    });
  }
};
