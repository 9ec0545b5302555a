import type { StackStates } from "../../provider/lifecycle/stack-states.js";
import { ownSettings } from "../../provider/service/emulated-settings.js";
import { describeSettings, type SettingSource } from "../../provider/service/settings.js";
import { type OpenStack, unreadPart } from "../inventory/open-stack.js";
import { isOurType } from "../inventory/stack-accounts.js";
import type { ConfigEntry } from "../pulumi/project-files.js";
import { quietEnvironment } from "../pulumi/pulumi-queries.js";
import {
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import { exportOtherStacks, stackStateOf, statesOf } from "../pulumi/stack-states.js";

/** Everything that is copied of a stack; the stack itself never changes. */
export interface OriginalStack {
  readonly stack: OpenStack;
  /** Its state, secrets in plain text: kept in memory only. */
  readonly document: StackExport;
  readonly config: ReadonlyMap<string, ConfigEntry>;
  readonly source: SettingSource;
  /** The other stacks of the backend that a run may look at. */
  readonly others: readonly StackExport[];
  /** The content of the states of all stacks in the backend. */
  readonly states: StackStates;
}

/** A run looks at the outputs of other stacks, and at whose an object is. */
const isOfInterest = ({ type, outputs = {} }: StateResource): boolean =>
  isOurType(type) || (type === "pulumi:pulumi:Stack" && Object.keys(outputs).length > 0);

/**
 * Reads state, configuration, and the states beside it.
 *
 * @throws CommandFailure if the stack's own state or configuration cannot be read
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, document } = stack;
  const config = await stack.readConfig();
  if (config.unread !== undefined) throw unreadPart("configuration", config.unread);
  const own = stackStateOf(document, true, place.stack);
  const { stacks, complete } = await exportOtherStacks(place, own, "clear");
  const documents = stacks.map(({ document: other }) => other);
  return {
    ...{ stack, document, config: config.entries, source: config.source },
    others: documents.filter((other) => resourcesInState(other).some(isOfInterest)),
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
