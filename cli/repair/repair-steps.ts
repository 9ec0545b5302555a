/** What became of a step; left out where it was only to be shown. */
interface Outcome {
  readonly done?: boolean;
  /** Why it was not done. */
  readonly reason?: string;
}

/** An object of the service, as steps name it. */
interface NamedObject {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** One thing that brings a stack in order after a run that was cut off, in the order in which they are done. */
export type RepairStep = Outcome &
  (
    | { readonly action: "remove-cut-off-files"; readonly files: readonly string[] }
    | { readonly action: "end-process"; readonly pid: number }
    | { readonly action: "cancel"; readonly by: string }
    /** `record`: the state does not know the object; `refresh`: it may have another form of it. */
    | ({ readonly action: "record" | "refresh"; readonly urn: string } & NamedObject)
    | {
        readonly action: "forget";
        readonly kind: string;
        readonly urn: string;
        /**
         * `held`: the state has the resource; `not-made`: nothing at the service was made; `again`: the
         * next run does it again.
         */
        readonly why: "held" | "not-made" | "again";
      }
    | ({ readonly action: "delete"; readonly label: string } & NamedObject)
  );

/** What a repair found and did. */
export interface RepairResult {
  readonly project: string;
  readonly stack: string;
  readonly applied: boolean;
  readonly steps: readonly RepairStep[];
  /** Sentences about what settles itself, or needs a look. */
  readonly notes: readonly string[];
  /** Sentences about what a repair cannot settle, and who can. */
  readonly left: readonly string[];
}

/** Whether all is in order now. */
export const isRepaired = ({ applied, steps, left }: RepairResult): boolean =>
  left.length === 0 && steps.every(({ done }) => !applied || done === true);
