import { type Operation, operations } from "./acts.js";
import type { Stage } from "./stage.js";

/** As often as anything can happen in a test. */
export const always = 1000;

/** How an operation ends while the fault is there, and what it may have cost. */
export interface Ending {
  readonly words: string;
  /** Left out: the operation succeeds. Else what the message says. */
  readonly fails?: RegExp;
  /** How often the disturbed call is sent. */
  readonly sends: number;
  /** Milliseconds waited, on the run's clock. Left out: not looked at. */
  readonly waits?: readonly [least: number, most: number];
}

/** What disturbs the operation; called when the new run is about to begin. */
export type Arrange = (stage: Stage, on: string, operation: Operation) => Promise<void> | void;

/** A cell that the common sequence tests: disturb, perform, look, then once more undisturbed. */
export interface DisturbedCell extends Ending {
  readonly arrange: Arrange;
}

export interface OwnCell {
  readonly words: string;
  readonly test: (stage: Stage) => Promise<void>;
}

export type Cell = DisturbedCell | OwnCell;

/** One fault in the columns that it can strike. */
export interface Row {
  /** What goes wrong, in words. */
  readonly title: string;
  readonly cells: Readonly<Partial<Record<Operation, Cell>>>;
}

/** Rows that belong together. */
export interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The operation succeeds after so many attempts. */
export const done = (sends: number, words: string): Ending => ({ sends, words });

/** The operation fails with such a message after so many attempts. */
export const fails = (sends: number, message: RegExp, words: string): Ending => ({
  sends,
  fails: message,
  words,
});

/** What a row may hold: an ending of the common sequence, or a sequence of its own. */
export type Endings = Readonly<Partial<Record<Operation, Ending | OwnCell>>>;

/** A row whose cells differ in their endings only; cells with a course of their own stay as they are. */
export const row = (title: string, arrange: Arrange, endings: Endings): Row => ({
  title,
  cells: Object.fromEntries(
    Object.entries(endings).map(([operation, cell]) => [
      operation,
      "sends" in cell ? { ...cell, arrange } : cell,
    ]),
  ),
});

/** The same for all columns but those that are given. */
export const everywhere = (ending: Ending, others: Endings = {}): Endings => ({
  ...Object.fromEntries(operations.map((operation) => [operation, ending])),
  ...others,
});

/** A fault rule of the emulator on the disturbed call. */
export const faulty =
  (rule: Readonly<Record<string, unknown>>): Arrange =>
  (stage, on) =>
    stage.hub.faults({ on, ...rule });
