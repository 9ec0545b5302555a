import type { JsonObject } from "../../../provider/kernel/json.js";
import { messageOf } from "../../command.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { exportStack, openedValues, type StackExport } from "../../stack/stack-export.js";

/** A stack to which a program refers, as far as it needs it: its outputs, secrets in clear. */
export interface ReferencedStack {
  /** Of the form that its URNs have. */
  readonly project: string;
  readonly stack: string;
  /** The resource that stands for the stack in its state. */
  readonly root: JsonObject;
}

const rootType = "pulumi:pulumi:Stack";

/** Project and name of the stack that a URN is of. */
export const namesIn = (urn: string): readonly [project: string, stack: string] | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(urn) ?? [];
  return stack && project ? [project, stack] : undefined;
};

/** The stacks to which a program referred in the run that made this state, as it calls them. */
export const stackReferencesIn = ({ deployment }: StackExport): readonly string[] => [
  ...new Set(
    (deployment.resources ?? [])
      .filter(({ type }) => type === "pulumi:pulumi:StackReference")
      .flatMap(({ inputs }) => openedValues(inputs).name ?? [])
      .filter((name) => typeof name === "string"),
  ),
];

/** The stack of which Pulumi says that the copy's backend has none. */
export const unknownStackIn = (messages: readonly string[]): string | undefined =>
  messages.flatMap((message) => /unknown stack "([^"]+)"/.exec(message)?.[1] ?? [])[0];

/**
 * Reads a stack beside the one that is rehearsed.
 *
 * @returns the stack, or why it could not be read; undefined for the rehearsed stack itself, which is there
 */
export const readReferenced = async (
  { place, names }: OpenStack,
  name: string,
): Promise<ReferencedStack | { readonly problem: string } | undefined> => {
  try {
    const { deployment } = await exportStack({ ...place, stack: name }, "clear");
    const root = deployment.resources?.find(({ type }) => type === rootType);
    const [project, stack] = namesIn(root?.urn ?? "") ?? [];
    if (!root || !project || !stack) return { problem: `The stack ${name} has no outputs yet.` };
    const isOwn = project === names.project && stack === names.stack;
    return isOwn ? undefined : { project, stack, root };
  } catch (error) {
    return { problem: `The outputs of the stack ${name} could not be read: ${messageOf(error)}` };
  }
};
