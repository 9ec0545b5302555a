import type { CallFault, ModelResource, ModelStep, Scenario, Up } from "./scenario.js";

/** Histories in which much of what a rule is about happens. */
export type Focus = (history: Scenario) => Scenario;

export const ups =
  (change: (step: Up) => Up): Focus =>
  (history) => ({
    ...history,
    steps: history.steps.map((step) => (step.type === "up" ? change(step) : step)),
  });

export const failing = (kind: CallFault["kind"]): Focus =>
  ups(({ kill: _, ...step }) => ({
    ...step,
    faults: step.faults.map((each) => ({ ...each, kind })),
  }));

export const saying = (text: ModelResource["text"]): Focus =>
  ups((step) => ({
    ...step,
    program: step.program.map((each) => ({ ...each, text: text ?? "short" })),
  }));

/** Every interference of a person is this one. */
export const byHand =
  (instead: (place: number) => ModelStep): Focus =>
  (history) => ({
    ...history,
    steps: history.steps.map((step, place) =>
      step.type === "up" || step.type === "refresh" ? step : instead(place),
    ),
  });

/** Two objects of a person under the name of a resource that then is to adopt one. */
export const severalAlike: Focus = (history) => {
  const flow = { name: "flow2", variant: 0, version: 0 } as const;
  const program = [
    { ...flow, name: "auth2" },
    { ...flow, name: "app2" },
  ] as const;
  const up = { type: "up", stack: 0, force: [], deleteFirst: false, faults: [] } as const;
  const foreign = { type: "foreign", name: "flow2", variant: 0 } as const;
  const adopt = [{ name: "flow2", how: "name", place: 0 }] as const;
  const prelude = [{ ...up, program }, foreign, foreign] as const;
  return {
    ...history,
    steps: [...prelude, { ...up, program: [...program, flow], adopt }, ...history.steps],
  };
};

/** An object is copied, and an update of it is refused. */
export const copiedAndRefused: Focus = (history) => {
  const auth = { name: "auth1", variant: 0, version: 0 } as const;
  const up = { type: "up", stack: 0, force: [], deleteFirst: false, faults: [] } as const;
  const copy = { type: "copy", place: 0, age: "soon", isRenamed: true } as const;
  const faults = [{ call: 1, kind: "refused" }] as const;
  const refused = { ...up, program: [{ ...auth, version: 1 }], faults };
  return { ...history, steps: [{ ...up, program: [auth] }, copy, refused, ...history.steps] };
};
