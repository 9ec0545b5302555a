import type { Step } from "./workload.js";

/** Which steps may begin, as others end. */
export interface StepOrder {
  first(): readonly Step[];
  /** Tells that a step has ended, and gives those that may begin by that. */
  ended(step: Step): readonly Step[];
}

interface Standing {
  readonly step: Step;
  readonly next: Step[];
  missing: number;
}

const standingsOf = (steps: readonly Step[]): ReadonlyMap<Step, Standing> => {
  const standings = new Map(steps.map((step) => [step, { step, next: [] as Step[], missing: 0 }]));
  const byUrn = new Map(steps.map((step) => [`${step.phase} ${step.urn}`, step]));
  for (const standing of standings.values()) {
    for (const urn of new Set(standing.step.after)) {
      const before = byUrn.get(`${standing.step.phase} ${urn}`);
      const known = before && before !== standing.step ? standings.get(before) : undefined;
      known?.next.push(standing.step);
      standing.missing += known ? 1 : 0;
    }
  }
  return standings;
};

/** Dependencies within a phase, and the phases one after the other. */
export const stepOrder = (steps: readonly Step[]): StepOrder => {
  const standings = standingsOf(steps);
  const phases = [...new Set(steps.map(({ phase }) => phase))].sort((a, b) => a - b);
  const left = new Map(phases.map((phase) => [phase, 0]));
  for (const { phase } of steps) left.set(phase, (left.get(phase) ?? 0) + 1);
  const opened = (phase: number | undefined): readonly Step[] =>
    steps.filter((step) => step.phase === phase && standings.get(step)?.missing === 0);
  const ended = (step: Step): readonly Step[] => {
    const free = (standings.get(step)?.next ?? []).filter((next) => {
      const standing = standings.get(next);
      if (standing) standing.missing -= 1;
      return standing?.missing === 0;
    });
    const rest = (left.get(step.phase) ?? 0) - 1;
    left.set(step.phase, rest);
    return rest === 0 ? opened(phases[phases.indexOf(step.phase) + 1]) : free;
  };
  return { first: () => opened(phases[0]), ended };
};
