import { readFileSync } from "node:fs";
import { bodyOf } from "../../provider/definition/wire.js";
import { isObject, jsonIn, listedObjects } from "../../provider/kernel/json.js";
import { propertiesIn } from "../../provider/lifecycle/state.js";
import { typeToken } from "../../provider/pointer.js";
import { resources } from "../../provider/resources/index.js";
import { settingNames } from "../../provider/service/settings.js";
import { queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import { readAccountInputs } from "../account/open-account.js";
import { savedAccountIn } from "../account/saved-account.js";
import { CommandFailure } from "../command.js";
import { pulumiPlace, stackAdvice } from "../pulumi-cli/stack-config.js";
import { openedSecrets } from "../stack/stack-export.js";
import type { Progress } from "../terminal/progress.js";
import { type Explanation, explain } from "./explanation.js";
import { type ObjectsOf, type SetUpObjects, setUpObjects } from "./set-up-objects.js";

export interface ExplainOptions {
  /** Read the stack's state in place of the live account. */
  readonly state?: boolean;
  /** Read this file in place of the live account. */
  readonly snapshot?: string;
  readonly stack?: string;
  readonly profile?: string;
  /** Only accounts with this name, address or id. */
  readonly account?: string;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** Where the objects come from, and what is missing of them. */
interface Source {
  readonly name: string;
  readonly objectsOf: ObjectsOf;
  readonly platformName: string;
  readonly notes: readonly string[];
  /** Why a kind could not be read whole, by its name. */
  readonly problems: ReadonlyMap<string, string>;
}

const problemsIn = (
  kinds: readonly { readonly kind: string; readonly problem?: string | undefined }[],
): Source["problems"] =>
  new Map(kinds.flatMap(({ kind, problem }) => (problem === undefined ? [] : [[kind, problem]])));

const platformNameIn = (env: NodeJS.ProcessEnv, profile: string | undefined): string =>
  env[settingNames("platformName", profile).environment] || "platform";

const fromAccount = async (options: ExplainOptions): Promise<Source> => {
  const { settings, reading, notes } = await readAccountInputs(options);
  const lists = new Map(reading.kinds.map(({ definition, objects }) => [definition.kind, objects]));
  return {
    name: `the account at ${settings.baseUrl}`,
    platformName: settings.platformName,
    objectsOf: ({ kind }) => [...(lists.get(kind)?.values() ?? [])],
    notes,
    problems: problemsIn(
      reading.kinds.map(({ definition: { kind }, problem }) => ({ kind, problem })),
    ),
  };
};

/** A saved reading of an account, or the snapshot of an emulator. */
const fromFile = (file: string, { env = process.env, profile }: ExplainOptions): Source => {
  const text = textOf(file);
  const common = { name: file, platformName: platformNameIn(env, profile) };
  const saved = savedAccountIn(text);
  if (saved) {
    const of = (kind: string) => saved.kinds.find((each) => each.kind === kind);
    const notes = saved.kinds.flatMap(({ kind, problem }) =>
      problem ? [`${kind}: ${problem}`] : [],
    );
    const problems = problemsIn(saved.kinds);
    return { ...common, notes, problems, objectsOf: ({ kind }) => of(kind)?.objects ?? [] };
  }
  const document = jsonIn(text);
  const objects = isObject(document) ? document.objects : undefined;
  if (!isObject(objects))
    throw new CommandFailure(
      `Explaining ${file}: it holds neither a saved account nor the snapshot of an emulator. ` +
        "An emulator gives one at GET /snapshot of its control address.",
    );
  return {
    ...common,
    notes: [],
    problems: new Map(),
    objectsOf: ({ collection }) => listedObjects(objects[collection]),
  };
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CommandFailure(`Explaining ${file}: the file cannot be read. Correct the path.`);
  }
};

const fromState = async (options: ExplainOptions): Promise<Source> => {
  const { folder = process.cwd(), env = process.env, stack, profile } = options;
  const place = pulumiPlace(folder, env, stack);
  if (!place) throw new CommandFailure("Explaining the state: there is no pulumi on PATH.");
  const answer = await queryPulumi(place, ["stack", "export", "--show-secrets"]);
  if ("reason" in answer)
    throw new CommandFailure(
      `Explaining the state: it could not be read: ${answer.reason}\n${stackAdvice(answer.reason)}`,
    );
  const document = jsonIn(answer.text);
  const deployment = isObject(document) ? document.deployment : undefined;
  const all = listedObjects(isObject(deployment) ? deployment.resources : undefined);
  const platformName = platformNameIn(env, profile);
  return {
    name: "the state of the stack",
    platformName,
    notes: [],
    problems: new Map(),
    objectsOf: (definition) =>
      all
        .filter((resource) => resource.type === typeToken(definition.kind) && !resource.delete)
        .flatMap(({ id, outputs }) => {
          const values = openedSecrets(outputs);
          if (!isObject(values)) return [];
          const { fields, record, profile: own } = propertiesIn(values);
          if (own !== profile) return [];
          return [{ ...bodyOf(definition, fields, { platformName }), ...record, id }];
        }),
  };
};

const sourceOf = (options: ExplainOptions): Promise<Source> | Source => {
  if (options.snapshot !== undefined) return fromFile(options.snapshot, options);
  return options.state ? fromState(options) : fromAccount(options);
};

const chosen = (all: Explanation, wanted: string | undefined): Explanation => {
  if (wanted === undefined) return all;
  const accounts = all.accounts.filter(({ id, name, address }) =>
    [id, name, address].includes(wanted),
  );
  if (accounts.length > 0) return { ...all, accounts };
  const known = all.accounts
    .map(({ name }) => name)
    .slice(0, 20)
    .join(", ");
  throw new CommandFailure(
    `Explaining the account ${wanted}: there is none with this name, address or id. There are: ${known || "none"}.`,
  );
};

/** The objects that decide; what is missing of them would be taken for what is not there. */
const decisive = ({ name, objectsOf, platformName, problems }: Source): SetUpObjects =>
  setUpObjects((definition) => {
    const problem = problems.get(definition.kind)?.replace(/(?<![.!?])$/, ".");
    if (problem === undefined) return objectsOf(definition);
    throw new CommandFailure(
      `Explaining ${name}: who gets what cannot be said, as its ${definition.noun}s could not all be read: ${problem}`,
    );
  }, platformName);

/**
 * Reads the set-up and says what becomes of each message.
 *
 * @throws CommandFailure, ConversationError where the set-up cannot be read
 */
export const explainSetUp = async (options: ExplainOptions): Promise<Explanation> => {
  const source = await sourceOf(options);
  const { name, objectsOf, notes } = source;
  const known = resources.map((definition) => objectsOf(definition).length);
  const empty = known.every((count) => count === 0) ? ["Nothing is set up there."] : [];
  const objects = decisive(source);
  return chosen(explain(objects, name, [...notes, ...empty]), options.account);
};
