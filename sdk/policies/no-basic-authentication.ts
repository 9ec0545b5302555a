import { type ResourceValidationPolicy, validateResourceOfType } from "@pulumi/policy";
import { Authentication } from "../resources.js";
import { whereKnown } from "./known-values.js";
import { policyNotes } from "./policy-notes.js";

/** `urn:pulumi:<stack>::<project>::…` */
const stackIn = (urn: string): string => urn.split(":")[2] ?? "";

/** Whether a name fits a pattern in which `*` stands for any text. */
const fits = (name: string, pattern: string): boolean => {
  const literal = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*")}$`).test(name);
};

/** `no-basic-authentication`: callbacks of chosen stacks are signed in to with tokens. */
export const noBasicAuthentication: ResourceValidationPolicy = {
  ...policyNotes(
    "no-basic-authentication",
    "No Basic authentication",
    "Callbacks of production stacks are signed in to with OAuth, not with Basic.",
    "Use oauth2 in place of basicAuth: its tokens end by themselves, a Basic password does not.",
  ),
  severity: "medium",
  configSchema: {
    properties: {
      stacks: {
        type: "array",
        items: { type: "string" },
        default: ["prod*"],
        description: "Names of the stacks it holds for; * stands for any text.",
      },
    },
  },
  validateResource: validateResourceOfType(Authentication, (authentication, args, report) => {
    const { stacks = ["prod*"] } = args.getConfig<{ readonly stacks?: readonly string[] }>();
    const stack = stackIn(args.urn);
    const isBasic =
      whereKnown(() => authentication.type) === "basic" ||
      whereKnown(() => authentication.basicAuth) !== undefined;
    if (isBasic && stacks.some((pattern) => fits(stack, pattern)))
      report(
        `Stack ${stack} signs in at a callback with Basic authentication: its password never ends. Use oauth2.`,
      );
  }),
};
