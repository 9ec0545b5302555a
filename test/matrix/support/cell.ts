import type { Operation } from "./acts.js";
import type { Stage } from "./stage.js";

/** As often as anything can happen in a test. */
export const always = 1000;

/** How an operation ends while the fault is there, and what it may have cost. */
export interface Ending {
  /** In words, for the table. */
  readonly words: string;
  /** Left out: the operation succeeds. Else what the message says. */
  readonly fails?: RegExp;
  /** With the id of the object, so that the engine saves it. */
  readonly withId?: true;
  /** How often the disturbed call is sent. */
  readonly sends: number;
  /** Milliseconds waited, on the run's clock. Left out: not looked at. */
  readonly waits?: readonly [least: number, most: number];
  /** After a failure: whether the service acted all the same. Default: it did not. */
  readonly acted?: true;
}

/** What disturbs the operation; called when the new run is about to begin. */
export type Arrange = (stage: Stage, on: string, operation: Operation) => Promise<void> | void;

/** A cell that the common sequence tests: disturb, perform, look, then once more undisturbed. */
export interface DisturbedCell extends Ending {
  readonly arrange: Arrange;
}

/** A cell with a sequence of its own. */
export interface OwnCell {
  readonly words: string;
  readonly test: (stage: Stage) => Promise<void>;
}

/** Why there is no test. */
export type Reason = string;

export type Cell = DisturbedCell | OwnCell | Reason;

/** One fault in all columns. */
export interface Row {
  /** First part of the test ids. */
  readonly fault: string;
  /** What goes wrong, in words. */
  readonly title: string;
  readonly cells: Readonly<Record<Operation, Cell>>;
}

/** Rows that belong together. */
export interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The operation succeeds after so many attempts. */
export const done = (sends: number, words: string): Ending => ({ sends, words });

/** The operation fails with such a message after so many attempts. */
export const fails = (
  sends: number,
  message: RegExp,
  words: string,
  more: Partial<Ending> = {},
): Ending => ({ sends, fails: message, words, ...more });

/** What a row may hold: a sequence that its own disturbance belongs to, or a cell of any kind. */
export type Outcome = Ending | OwnCell | Reason;

export type Endings = Readonly<Record<Operation, Outcome>>;

const isEnding = (cell: Outcome): cell is Ending => typeof cell !== "string" && "sends" in cell;

/** A row whose cells differ in their endings only; cells with a course of their own stay as they are. */
export const row = (fault: string, title: string, arrange: Arrange, endings: Endings): Row => ({
  fault,
  title,
  cells: Object.fromEntries(
    Object.entries(endings).map(([operation, cell]) => [
      operation,
      isEnding(cell) ? { ...cell, arrange } : cell,
    ]),
  ) as Record<Operation, Cell>,
});

/** The same for all columns but those that are given. */
export const everywhere = (
  cell: Outcome,
  others: Partial<Record<Operation, Outcome>> = {},
): Endings => ({
  create: cell,
  list: cell,
  get: cell,
  update: cell,
  delete: cell,
  token: cell,
  ...others,
});

/** A fault rule of the emulator on the disturbed call. */
export const faulty =
  (rule: Readonly<Record<string, unknown>>): Arrange =>
  (stage, on) =>
    stage.hub.faults({ on, ...rule });
