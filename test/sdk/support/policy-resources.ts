import type { PolicyResource, ResourceValidation, StackValidationPolicy } from "@pulumi/policy";
import { typeToken } from "../../../provider/kernel/pulumi.js";

export type Props = Readonly<Record<string, unknown>>;

type ResourceOf = Parameters<PolicyResource["isType"]>[0];

const options = {
  protect: false,
  ignoreChanges: [],
  aliases: [],
  additionalSecretOutputs: [],
  customTimeouts: { createSeconds: 0, updateSeconds: 0, deleteSeconds: 0 },
};

/** A resource as the engine shows it to a policy of a stack. */
export const resource = (
  kind: string,
  name: string,
  props: Props,
  stack = "prod",
): PolicyResource => {
  const type = typeToken(kind);
  const isOf = (of: object): boolean => "__pulumiType" in of && of.__pulumiType === type;
  const shown = {
    type,
    name,
    props,
    urn: `urn:pulumi:${stack}::shop::${type}::${name}`,
    opts: options,
    dependencies: [],
    propertyDependencies: {},
    isType: isOf,
    asType: (of: object) => (isOf(of) ? props : undefined),
  };
  // The typed view of the properties is the properties themselves.
  return shown as PolicyResource;
};

export const seen = (
  policy: StackValidationPolicy,
  resources: readonly PolicyResource[],
  config: object = {},
): readonly string[] => {
  const reported: string[] = [];
  policy.validateStack(
    {
      resources: [...resources],
      stackTags: new Map(),
      getConfig: <T extends object>() => config as T,
      notApplicable: (reason) => {
        throw new Error(reason);
      },
    },
    (message) => reported.push(message),
  );
  return reported;
};

export const seenIn = (
  policy: { readonly validateResource?: ResourceValidation | ResourceValidation[] },
  of: PolicyResource,
  config: object = {},
): readonly string[] => {
  const reported: string[] = [];
  // As in a pack, where a policy is about another type ends by being thrown.
  class NotApplicable extends Error {}
  const args = {
    ...of,
    // The typed view of the properties is the properties themselves.
    asType: <T>(type: ResourceOf) => (of.isType(type) ? (of.props as T) : undefined),
    stackTags: new Map<string, string>(),
    getConfig: <T extends object>() => config as T,
    notApplicable: () => {
      throw new NotApplicable();
    },
  };
  for (const validate of [policy.validateResource ?? []].flat())
    try {
      validate(args, (message) => reported.push(message));
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
    }
  return reported;
};
