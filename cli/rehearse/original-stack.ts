import type { JsonObject } from "../../provider/kernel/json.js";
import { providerToken } from "../../provider/kernel/type-tokens.js";
import type { StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { describeSettings, type SettingSource } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { exportStack, type OpenStack } from "../inventory/open-stack.js";
import { isOurType } from "../inventory/stack-accounts.js";
import { type ConfigEntry, readStackConfig, stackAdvice } from "../pulumi/project-files.js";
import { quietEnvironment } from "../pulumi/pulumi-queries.js";
import {
  accountIn,
  openedValues,
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";

/** Everything that is copied of a stack; the stack itself never changes. */
export interface OriginalStack {
  readonly stack: OpenStack;
  /** Its state, secrets in plain text: kept in memory only. */
  readonly document: StackExport;
  readonly config: ReadonlyMap<string, ConfigEntry>;
  readonly source: SettingSource;
  /** The content of the states of all stacks in the backend. */
  readonly states: StackStates;
}

/**
 * Reads state, configuration, and the states beside it.
 *
 * @throws CommandFailure if the stack's own state or configuration cannot be read
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, env } = stack;
  const [document, config, states] = await Promise.all([
    exportStack(place, "clear"),
    readStackConfig(place.folder, env, place.stack),
    stack.readStates("all"),
  ]);
  if (config.unread !== undefined)
    throw new CommandFailure(
      `Cannot read the stack's configuration, so nothing was done: ${config.unread}\n${stackAdvice(config.unread)}`,
    );
  return { stack, document, config: config.entries, source: config.source, states };
};

/** The parts of a stack that show its profiles. */
type ProfileSources = Pick<OriginalStack, "document" | "config"> & {
  readonly stack: Pick<OpenStack, "env">;
};

const variableOf = /^CONVERSATION_([A-Z][A-Z0-9_]*)_BASE_URL$/;
const entryOfProfile = /^conversation:([A-Za-z][\w-]*)\.(\w+)$/;

/** A profile as spelled in its variables. */
const wordOf = (profile: string): string => profile.toUpperCase().replaceAll("-", "_");

/**
 * Profiles that a program may use: those of the state, and those that have a base URL in the
 * configuration or in the environment. Without an address, a profile reaches nothing.
 */
export const profilesOf = (original: ProfileSources): readonly string[] => {
  const words = Object.keys(original.stack.env).flatMap((name) => variableOf.exec(name)?.[1] ?? []);
  const inConfig = [...original.config.keys()].flatMap((key) => {
    const [, profile = "", setting] = entryOfProfile.exec(key) ?? [];
    return profile && (setting === "baseUrl" || words.includes(wordOf(profile))) ? [profile] : [];
  });
  const inState = resourcesInState(original.document).flatMap(
    ({ inputs }) => accountIn({ inputs }) ?? [],
  );
  const known = [...new Set([...inState, ...inConfig])];
  const others = words.filter((word) => !known.some((profile) => wordOf(profile) === word));
  return [...known, ...others.map((word) => word.toLowerCase())];
};

/** The settings by which a program may reach an account, of any profile. */
const settingNames = describeSettings().map(({ environment }) => environment.replace(/^.*?_/, ""));
const ourVariable = new RegExp(`^CONVERSATION_(\\w+_)?(${settingNames.join("|")})$`);
const settingKeys = describeSettings().map(({ key }) => key);
const ourEntry = new RegExp(`^conversation:([\\w-]+\\.)?(${settingKeys.join("|")})$`);

/** Variables that would lead a run to the real backend or another stack. */
const leadsElsewhere = /^PULUMI_(BACKEND_URL|CONFIG_PASSPHRASE|OPTION_|STACK$|ACCESS_TOKEN$)/;

/**
 * The environment of a stack without what leads to its backend, and without every setting by which
 * a program may reach an account. Other variables may belong to the program or hold its secrets.
 */
export const withoutWaysOut = ({ stack }: ProfileSources): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(quietEnvironment(stack.env)).filter(
      ([name]) => !leadsElsewhere.test(name) && !ourVariable.test(name),
    ),
  );

/**
 * The configuration of a stack without the settings of accounts. They are empty, which counts as
 * missing: if they were left out, the project file's values would apply.
 */
export const configWithoutWaysOut = ({ config }: ProfileSources): OriginalStack["config"] => {
  const none: ConfigEntry = { text: "", secret: false };
  return new Map([...config].map(([key, entry]) => [key, ourEntry.test(key) ? none : entry]));
};

/** A stack beside the one that is rehearsed, reduced to what a run may need of it. */
export interface OtherStack {
  /** As in its URNs. */
  readonly project: string;
  readonly stack: string;
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

/**
 * Reads a stack beside the one that is rehearsed: what it holds, and its outputs if they are wanted.
 *
 * @param secrets `clear` reads the outputs, secrets in plain text
 * @throws CommandFailure if it cannot be read
 */
export const readOther = async (
  { place }: OpenStack,
  name: string,
  secrets?: "clear",
): Promise<OtherStack | undefined> => {
  const resources = resourcesInState(await exportStack({ ...place, stack: name }, secrets));
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(resources[0]?.urn ?? "") ?? [];
  if (!project || !stack) return undefined;
  const root = resources.filter(({ type }) => secrets && type === "pulumi:pulumi:Stack");
  const held = resources.filter(({ type }) => isOurType(type) || type === providerToken);
  return { project, stack, resources: [...root, ...held.map(heldAlone)] };
};

/**
 * The stacks to which a program referred in the run that made this state, under the names that it
 * uses.
 */
export const stackReferencesIn = (document: StackExport): readonly string[] => [
  ...new Set(
    resourcesInState(document)
      .filter(({ type }) => type === "pulumi:pulumi:StackReference")
      .flatMap(({ inputs }) => openedValues(inputs).name ?? [])
      .filter((name) => typeof name === "string"),
  ),
];

/** The stack that Pulumi reports as missing in the copy's backend. */
export const unknownStackIn = (messages: readonly string[]): string | undefined =>
  messages.flatMap((message) => /unknown stack "([^"]+)"/.exec(message)?.[1] ?? [])[0];
