import { naturalKey } from "../../provider/definition/references.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { asText } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { CommandFailure } from "../command.js";

/** Which objects of an account are meant. */
export interface SelectionOptions {
  /** Each a kind, a name with `*` for any text, `kind:name`, or an id. Default: everything. */
  readonly include?: readonly string[];
  /** The same; what it names is left out. */
  readonly exclude?: readonly string[];
  /** Also what the chosen objects refer to, and so on; not what is excluded. */
  readonly withDependencies?: boolean;
}

/** Kinds as people write them: `ClientApplication`, `client-application`, `clientapplications`. */
const kindNamed = (text: string) => {
  const plain = text.toLowerCase().replaceAll(/[\s_-]/g, "");
  return resources.find(({ kind, collection, noun }) =>
    [kind.toLowerCase(), collection.toLowerCase(), `${noun}s`.replaceAll(" ", "")].includes(plain),
  );
};

const nameOf = ({ definition, fields }: ObjectInputs): string =>
  asText(fields[naturalKey(definition)]);

const patternOf = (text: string): RegExp => {
  const parts = text.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`, "iu");
};

/** Whether an object is meant by one word of a filter. */
const matcher = (word: string): ((object: ObjectInputs) => boolean) => {
  const kind = kindNamed(word);
  if (kind) return ({ definition }) => definition === kind;
  const [first = "", ...rest] = word.split(":");
  const qualified = rest.length > 0 ? kindNamed(first) : undefined;
  const text = qualified ? rest.join(":") : word;
  const pattern = patternOf(text);
  return (object) =>
    (!qualified || object.definition === qualified) &&
    (object.id === text || pattern.test(nameOf(object)));
};

/** The words of a filter that mean nothing in the account. */
const idleWords = (objects: readonly ObjectInputs[], words: readonly string[]) =>
  words.filter((word) => !kindNamed(word) && !objects.some(matcher(word)));

const dependenciesOf = (
  object: ObjectInputs,
  byId: ReadonlyMap<string, ObjectInputs>,
): readonly ObjectInputs[] =>
  referencesIn(object.definition.fields, object.fields).flatMap(
    ({ to, id }) => byId.get(`${to.kind} ${id}`) ?? [],
  );

/** Objects of an account by kind and id. */
export const objectsById = (objects: readonly ObjectInputs[]): ReadonlyMap<string, ObjectInputs> =>
  new Map(objects.map((object) => [`${object.definition.kind} ${object.id}`, object]));

/** The objects with all that they refer to. */
const withDependencies = (
  chosen: readonly ObjectInputs[],
  objects: readonly ObjectInputs[],
  isExcluded: (object: ObjectInputs) => boolean,
): ReadonlySet<ObjectInputs> => {
  const byId = objectsById(objects);
  const all = new Set(chosen);
  // What is added is visited, too.
  for (const object of all)
    for (const used of dependenciesOf(object, byId)) if (!isExcluded(used)) all.add(used);
  return all;
};

/**
 * The objects that are meant, in the order of the account.
 *
 * @throws CommandFailure where a word of `include` means nothing
 */
export const selected = (
  objects: readonly ObjectInputs[],
  { include = [], exclude = [], withDependencies: follows = false }: SelectionOptions,
): readonly ObjectInputs[] => {
  const [idle] = idleWords(objects, include);
  if (idle !== undefined)
    throw new CommandFailure(
      `--include ${JSON.stringify(idle)} is no kind, and no object of the account has this name or id. ` +
        `Kinds: ${resources.map(({ kind }) => kind).join(", ")}.`,
    );
  const excluders = exclude.map(matcher);
  const isExcluded = (object: ObjectInputs) => excluders.some((matches) => matches(object));
  const includers = include.map(matcher);
  const chosen = objects.filter(
    (object) =>
      !isExcluded(object) &&
      (includers.length === 0 || includers.some((matches) => matches(object))),
  );
  const all = follows ? withDependencies(chosen, objects, isExcluded) : new Set(chosen);
  return objects.filter((object) => all.has(object));
};
