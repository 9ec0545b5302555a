import type { JsonObject } from "../../provider/kernel/json.js";
import { providerToken } from "../../provider/kernel/pulumi.js";
import type { StackStates } from "../../provider/lifecycle/stack-states.js";
import { ownSettings } from "../../provider/service/emulated-settings.js";
import { describeSettings, type SettingSource } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import type { OpenStack } from "../inventory/open-stack.js";
import { isOurType } from "../inventory/stack-accounts.js";
import { type ConfigEntry, stackAdvice } from "../pulumi/project-files.js";
import { quietEnvironment } from "../pulumi/pulumi-queries.js";
import {
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import {
  exportOtherStacks,
  type OtherStackExport,
  stackStateOf,
  statesOf,
} from "../pulumi/stack-states.js";

/** Everything that is copied of a stack; the stack itself never changes. */
export interface OriginalStack {
  readonly stack: OpenStack;
  /** Its state, secrets in plain text: kept in memory only. */
  readonly document: StackExport;
  readonly config: ReadonlyMap<string, ConfigEntry>;
  readonly source: SettingSource;
  /** The other stacks of the backend that a run may look at. */
  readonly others: readonly OtherStack[];
  /** The content of the states of all stacks in the backend. */
  readonly states: StackStates;
}

/**
 * Reads state, configuration, and the states beside it.
 *
 * @throws CommandFailure if the stack's own state or configuration cannot be read
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, document } = stack;
  const config = await stack.readConfig();
  if (config.unread !== undefined)
    throw new CommandFailure(
      `Cannot read the stack's configuration, so nothing was done: ${config.unread}\n${stackAdvice(config.unread)}`,
    );
  const own = stackStateOf(document, true, place.stack);
  const { stacks, complete } = await exportOtherStacks(place, own, "clear");
  return {
    ...{ stack, document, config: config.entries, source: config.source },
    others: stacks.flatMap((other) => partsOf(other) ?? []),
    states: statesOf(
      own,
      stacks.map(({ state }) => state),
      complete,
    ),
  };
};

/** The settings by which a program may reach an account, of any profile. */
const waysOut = describeSettings().filter(({ key }) => !ownSettings.some((own) => own === key));
const variables = waysOut.map(({ environment }) => environment.replace(/^.*?_/, ""));
const ourVariable = new RegExp(`^CONVERSATION_(\\w+_)?(${variables.join("|")})$`);
const ourEntry = new RegExp(
  `^conversation:([\\w-]+\\.)?(${waysOut.map(({ key }) => key).join("|")})$`,
);

/** Variables that would lead a run to the real backend or another stack. */
const leadsElsewhere = /^PULUMI_(BACKEND_URL|CONFIG_PASSPHRASE|OPTION_|STACK$|ACCESS_TOKEN$)/;

/**
 * The environment of a stack without what leads to its backend, and without every setting by which
 * a program may reach an account. Other variables may belong to the program or hold its secrets.
 */
export const withoutWaysOut = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(quietEnvironment(env)).filter(
      ([name]) => !leadsElsewhere.test(name) && !ourVariable.test(name),
    ),
  );

/**
 * The configuration of a stack without the settings of accounts. They are empty, which counts as
 * missing: if they were left out, the project file's values would apply.
 */
export const configWithoutWaysOut = (config: OriginalStack["config"]): OriginalStack["config"] => {
  const none: ConfigEntry = { text: "", secret: false };
  return new Map([...config].map(([key, entry]) => [key, ourEntry.test(key) ? none : entry]));
};

/** A stack beside the one that is rehearsed, reduced to what a run may need of it. */
interface OtherStack {
  /** As in its URNs. */
  readonly project: string;
  readonly stack: string;
  /** What it holds, and its outputs. */
  readonly resources: readonly StateResource[];
}

const only = (values: JsonObject = {}, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));

/** What shows whose an object is, as its owner decides what a run may do with it. */
const heldAlone = (resource: StateResource): StateResource => {
  const { urn, type, id, custom, external, provider = "" } = resource;
  const isOfPlugin = provider.includes(`::${providerToken}::`);
  return {
    ...{ urn, type, id, custom, external, ...(isOfPlugin ? { provider } : {}) },
    inputs: only(resource.inputs, ["owner", "ownership"]),
    outputs: only(resource.outputs, ["owner", "serial"]),
  };
};

/** Undefined for a stack that a run has no reason to look at. */
const partsOf = ({ document, isClear }: OtherStackExport): OtherStack | undefined => {
  const resources = resourcesInState(document);
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(resources[0]?.urn ?? "") ?? [];
  if (!project || !stack) return undefined;
  const roots = resources.filter(
    ({ type, outputs = {} }) =>
      isClear && type === "pulumi:pulumi:Stack" && Object.keys(outputs).length > 0,
  );
  const held = resources.filter(({ type }) => isOurType(type) || type === providerToken);
  const kept = [...roots, ...held.map(heldAlone)];
  return kept.length > 0 ? { project, stack, resources: kept } : undefined;
};
