/** An object of the account. */
export interface NamedObject {
  readonly kind: string;
  readonly name: string;
  /** Left out where the object is only made by the run: the service gives it another one. */
  readonly id?: string;
  readonly profile?: string;
}

/** Who stands in the way of a step. */
export interface Obstacle extends NamedObject {
  /** The stack that has it: this one's short name, or another's; left out where nobody manages it. */
  readonly stack?: string;
}

/** A change that the run makes. */
export interface RehearsedStep {
  readonly urn: string;
  readonly kind: string;
  /** Logical name in the program. */
  readonly name: string;
  /** Pulumi's word: `create`, `update`, `delete`, `replace`, `read`. */
  readonly operation: string;
  /** Calls that are made for it alone; the lists that steps share are not counted. */
  readonly calls: number;
  /** Seconds from the start of `pulumi up`, without the preview before it. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** A call that the run makes. */
export interface OutcomeCall {
  /** Such as `PUT`. */
  readonly method: string;
  /** Such as `/channels/{id}`. */
  readonly template: string;
  /** Of the object that the call is about or has made; one that the run makes gets another at the service. */
  readonly id?: string;
  readonly profile?: string;
  readonly status: number;
  /** Seconds from the start to the moment at which its rate lets it go. */
  readonly seconds: number;
}

/** A step that will not be done. */
export interface Refusal {
  /** Left out where the run as a whole is refused. */
  readonly urn?: string;
  readonly kind?: string;
  readonly name?: string;
  /** `preview` where Pulumi refuses before anything is done. */
  readonly operation: string;
  readonly reason: string;
  readonly inTheWay: readonly Obstacle[];
  /** What to do, in this order. */
  readonly order: readonly string[];
  /** Comes to light only after the others are out of the way. */
  readonly later?: true;
}

/** How the account changes; names only, no values. */
export interface AccountChange extends NamedObject {
  readonly change: "made" | "changed" | "deleted";
  /** Members that differ, for `changed`. */
  readonly members?: readonly string[];
}

/** What a run comes to. */
export interface RehearsedOutcome {
  /** Whether everything is done that is to be done. */
  readonly passes: boolean;
  readonly totalSeconds: number;
  readonly totalCalls: number;
  /** In the order in which they are sent; those for an access token are left out. */
  readonly calls: readonly OutcomeCall[];
  readonly steps: readonly RehearsedStep[];
  readonly refusals: readonly Refusal[];
  /** Resources of other packages and smoke tests: they were not run. */
  readonly leftOut: readonly string[];
  readonly changes: readonly AccountChange[];
  /** Objects that no stack declares, afterwards. */
  readonly undeclared: readonly NamedObject[];
  /** Objects in the account afterwards. */
  readonly objects: number;
  /**
   * Whether a second run would find nothing to do and nothing changed outside. Left out where the run
   * does not pass.
   */
  readonly settled?: boolean;
}

/** How the outcome is otherwise where the service behaves in another way than is assumed. */
export interface OtherReading {
  /** Such as `put: keep`. */
  readonly switches: Readonly<Record<string, string>>;
  /** Each difference a sentence. */
  readonly differences: readonly string[];
  readonly passes: boolean;
}

/** A whole rehearsal, as `--json` prints it. */
export interface Rehearsal {
  readonly operation: "up" | "destroy";
  readonly project: string;
  readonly stack: string;
  readonly plan: string;
  readonly parallel: number;
  readonly outcome: RehearsedOutcome;
  /** Only those whose outcome differs. */
  readonly otherReadings: readonly OtherReading[];
  /** What was tried in both ways without a difference, such as `put`. */
  readonly sameEitherWay: readonly string[];
  /** What could not be seen or copied. */
  readonly notes: readonly string[];
}
