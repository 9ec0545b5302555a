import type { Plan } from "../provider/service/plans.js";

/**
 * The other load on the bucket. `alone`: none, it is full at the start. `empty`: others have just
 * used it up. `shared`: others want half of its rate all the time.
 */
export type Situation = "alone" | "empty" | "shared";

/** One client that created objects of one kind on one plan. */
export interface CreationFigure {
  readonly client: string;
  readonly plan: Plan;
  readonly situation: Situation;
  /** Calls per second of the endpoint, and how many its bucket holds. */
  readonly rate: number;
  readonly burst: number;
  readonly resources: number;
  readonly idealSeconds: number;
  readonly wallSeconds: number;
  /**
   * Wall time over the ideal; null if the burst takes them all, so the ideal is no time, or if
   * resources failed, and in the situation `shared`.
   */
  readonly overIdeal: number | null;
  readonly calls: number;
  /** Answers with status 429. */
  readonly refused: number;
  /** Resources that were not created. */
  readonly failed: number;
}

/** This package's pacer in real time on one endpoint that nobody else uses. */
export interface AloneFigure {
  /** Calls per second of the endpoint, and how many its bucket holds. */
  readonly rate: number;
  readonly burst: number;
  readonly calls: number;
  readonly idealSeconds: number;
  readonly wallSeconds: number;
  readonly overIdeal: number;
  readonly refused: number;
}

/** One command of Pulumi's, in seconds. */
export interface CommandFigure {
  readonly command: string;
  /**
   * With a dynamic provider that makes the same calls and does nothing else, and resources that have
   * the values of this package's, the secret among them.
   */
  readonly sameCallsSeconds: number;
  readonly seconds: number;
  readonly overSameCalls: number;
}

/** Pulumi's commands on a service without limits. */
export interface EngineFigure {
  readonly resources: number;
  readonly pulumi: string;
  readonly commands: readonly CommandFigure[];
}

export interface Speed {
  readonly requestsPerSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
}

/** The whole client against the bare HTTP library. */
export interface OverheadFigure {
  readonly requests: number;
  readonly inFlight: number;
  readonly client: Speed;
  readonly pool: Speed;
  /** CPU time of the client over that of the library. */
  readonly cpuOverPool: number;
}

/** What was not measured, and why. */
export interface Skipped {
  readonly skipped: string;
}

/** Everything that one run measures; what `--json` prints. */
export interface Figures {
  readonly version: string;
  readonly node: string;
  readonly cores: number;
  readonly inFlight: number;
  readonly line: { readonly roundTripMs: number; readonly jitterMs: number };
  /** In virtual time. */
  readonly creation: readonly CreationFigure[];
  /** The same on one plan with a bucket that others use too. */
  readonly disturbed: readonly CreationFigure[];
  /** In real time, over loopback. */
  readonly pacer: readonly AloneFigure[];
  readonly engine: EngineFigure | Skipped;
  readonly overhead: OverheadFigure;
  readonly seconds: number;
}
