import type { z } from "zod";
import { ownCommand } from "../provider/kernel/package.js";

/** One session at a command line: where it writes, and how it ends. */
export interface Session {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /**
   * The error output for lines that are redrawn; their writer escapes foreign text itself. Default:
   * `err`.
   */
  readonly redraw?: (text: string) => void;
  /** Whether `out` is a terminal that shows colors. */
  readonly coloured: boolean;
  /** Resolves when the person, or the parent process, wants the command to end. */
  readonly untilInterrupted: () => Promise<void>;
  /** Exit code of a command that did not throw: 0 until the command sets another one. */
  exitCode: number;
}

/** An option of a command, whose value is a `V`. Its name is its key in the table of the command. */
export interface OptionSpec<V> {
  /** Follows the name, such as `<file>`, `[secret]`, or `<what...>`. Absent if nothing does. */
  readonly value?: string;
  readonly doc: string;
  readonly choices?: readonly string[];
  readonly fallback?: V;
  readonly isRequired?: true;
  /** Environment variable to read if the option is not given. */
  readonly environment?: string;
  /**
   * Makes the value from its text, and from the value that the option had before.
   *
   * @throws Error that says what is allowed
   */
  parse?(text: string, before: V | undefined): V;
}

export type OptionTable = Readonly<Record<string, OptionSpec<unknown>>>;

type ValueOf<S> = S extends OptionSpec<infer V> ? V : never;

type DefaultedName<O> = {
  [K in keyof O]: O[K] extends { readonly fallback: unknown } | { readonly isRequired: true }
    ? K
    : never;
}[keyof O];

/** The values of a table's options, as given on a command line. */
export type Given<O> = { readonly [K in DefaultedName<O>]: ValueOf<O[K]> } & {
  readonly [K in Exclude<keyof O, DefaultedName<O>>]?: ValueOf<O[K]>;
};

export const flagOption = (doc: string): OptionSpec<true> => ({ doc });

/** An option with any text. A shell makes an empty one of a variable that is not set. */
export const textOption = (value: string, doc: string): OptionSpec<string> => ({
  ...{ value, doc },
  parse: (text) => {
    if (text !== "") return text;
    throw new Error("It is empty.");
  },
});

/** An option with several words, as `<what...>`, or with one, that may be repeated. */
export const textsOption = (value: string, doc: string): OptionSpec<readonly string[]> =>
  value.includes("...")
    ? { value, doc }
    : { value, doc, parse: (one, before = []) => [...before, one] };

export const choiceOption = <const V extends string>(
  value: string,
  choices: readonly V[],
  doc: string,
): OptionSpec<V> => ({ value, doc, choices });

/** An option whose text `parse` reads; it throws an error that says what is allowed. */
export const parsedOption = <V>(
  value: string,
  doc: string,
  parse: (text: string, before: V | undefined) => V,
): OptionSpec<V> => ({ value, doc, parse });

export const numberOption = (
  value: string,
  doc: string,
  least: number,
  most = Number.POSITIVE_INFINITY,
): OptionSpec<number> =>
  parsedOption(value, doc, (given) => {
    const number = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Error(
      `Specify a whole number ${most < Number.POSITIVE_INFINITY ? `from ${least} to ${most}` : `of ${least} or more`}.`,
    );
  });

export const withDefault = <const V>(
  option: OptionSpec<V>,
  fallback: NoInfer<V>,
): OptionSpec<V> & { readonly fallback: V } => ({ ...option, fallback });

/** A word of the command line that is no option. */
interface WordSpec {
  /** Such as `<file>`, `[folder]`, or `[command...]`. */
  readonly value: string;
  readonly doc: string;
}

export interface CommandResult {
  /** What `--json` prints. */
  readonly value: unknown;
  /** What it prints otherwise. */
  readonly text: string;
  /** Default: 0. */
  readonly exitCode?: number;
  /** Whether something of the service could not be read, so that the result lacks it. */
  readonly isIncomplete?: boolean;
}

/** Exit code of a command that did its work without everything that it should have read. */
const incompleteExitCode = 6;

/** What this exit code means, for the commands that go on without what they could not read. */
export const incompleteExit = { [incompleteExitCode]: "done, but could not read everything" };

/** The exit code of a command: what could not be read is no success, and hides no other outcome. */
export const exitCodeOf = ({ exitCode = 0, isIncomplete = false }: CommandResult): number =>
  exitCode === 0 && isIncomplete ? incompleteExitCode : exitCode;

/** A command: all that its help, its documentation, and its checks follow from. */
export interface CommandSpec<O extends OptionTable = OptionTable> {
  readonly name: string;
  /** What it is for, in one sentence. */
  readonly summary: string;
  /** What it does and what it changes. */
  readonly description: string;
  /** Further explanations for its help. */
  readonly details?: string;
  readonly words?: readonly WordSpec[];
  /** Without `--json`, which every command has. */
  readonly options: O;
  /** Options that exclude one another: each with those that it excludes. */
  readonly excludes?: Readonly<Record<string, readonly string[]>>;
  /** What `--json` does if it does not print one object. */
  readonly jsonDoc?: string;
  /** Shape of the JSON. Loaded for the help and the documentation alone. */
  readonly json: () => Promise<z.ZodType>;
  /** What exit codes mean, beyond 1 for a failure and 2 for a wrong command line; `else`: all others. */
  readonly exits: Readonly<Record<string, string>>;
  /** Exit code of a wrong command line. Default: 2. */
  readonly usageExitCode?: 1 | 2;
  /**
   * Does the work. It loads what it needs here, so that the help is instant.
   *
   * @param words what the command line gives beside options
   * @returns what to print; undefined if it has already been printed
   */
  work(
    given: Given<O> & { readonly json?: true },
    session: Session,
    words: readonly string[],
  ): Promise<CommandResult | undefined>;
}

/** A command, with the types of its options taken from their table. */
export const command = <const O extends OptionTable>(spec: CommandSpec<O>): CommandSpec<O> => spec;

export const exitsOf = ({
  usageExitCode = 2,
  exits,
}: CommandSpec): Readonly<Record<string, string>> => ({
  1: usageExitCode === 1 ? "failed, or invalid command line" : "failed",
  ...(usageExitCode === 2 ? { 2: "invalid command line" } : {}),
  ...exits,
});

/** `maxMinutes` as it is written on the command line: `--max-minutes`. */
export const optionName = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Which stack, and which of its accounts, a command line names. */
export interface AskedStack {
  /** Default: the selected one. */
  readonly stack?: string | undefined;
  /** Default: the settings without a profile. */
  readonly profile?: string | undefined;
}

/** ` --stack <name>` for a command line that names one, as the one before did. */
export const sameStack = ({ stack }: AskedStack): string => (stack ? ` --stack ${stack}` : "");

/** A command of this package about the same stack and profile, as messages show it. */
export const sameStackCommand = (words: string, asked: AskedStack): string =>
  ownCommand(`${words}${sameStack(asked)}${asked.profile ? ` --profile ${asked.profile}` : ""}`);

/**
 * Something that the person at the terminal can act on. Its message stands alone and is shown
 * without a stack trace; the exit code is 1, or 2 if the command line itself was wrong.
 */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";

  constructor(
    message: string,
    readonly exitCode: number = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message of anything thrown; errors of the service also carry one that stands alone. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
