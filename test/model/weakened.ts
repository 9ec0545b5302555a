/** Rules of the provider that a test may switch off from outside, one at a time. */
export const rules = [
  "copies are distinguished",
  "a body shows whether it carries the mark",
  "what is not declared stays",
  "what left extra goes",
  "hidden members are refused",
  "meaning is compared",
  "one of several is not chosen",
] as const;

export type Rule = (typeof rules)[number];

let off: Rule | undefined;

/** From now on this rule does not hold; without one all do. */
export const switchOff = (rule?: Rule): void => {
  off = rule;
};

export const isOff = (rule: Rule): boolean => off === rule;
