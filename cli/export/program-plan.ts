import { hash } from "node:crypto";
import { referencesIn } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { asText } from "../../provider/kernel/json.js";
import { objectTime } from "../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../provider/resources/index.js";
import { CommandFailure } from "../command.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";

/** Selects objects of an account. */
export interface SelectionOptions {
  /** Each is a kind, a name with `*` for any text, `kind:name`, or an ID. Default: everything. */
  readonly include?: readonly string[];
  /** The same, for objects to omit. */
  readonly exclude?: readonly string[];
  /** Also select what the chosen objects refer to, transitively; not what is excluded. */
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

/** A test whether a word of a filter selects an object. */
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

/** The words of a filter that match nothing in the account. */
const idleWords = (objects: readonly ObjectInputs[], words: readonly string[]) =>
  words.filter((word) => !kindNamed(word) && !objects.some(matcher(word)));

/** Objects of an account by kind and ID. */
const objectsById = (objects: readonly ObjectInputs[]): ReadonlyMap<string, ObjectInputs> =>
  new Map(objects.map((object) => [`${object.definition.kind} ${object.id}`, object]));

/** Kind and ID of everything that an object refers to. */
const usedBy = ({ definition, fields }: ObjectInputs): readonly string[] =>
  referencesIn(definition.fields, fields).map(({ to, id }) => `${to.kind} ${id}`);

/**
 * The selected objects, in the order of the account.
 *
 * @throws CommandFailure if a word of `include` matches nothing
 */
export const selected = (
  objects: readonly ObjectInputs[],
  { include = [], exclude = [], withDependencies: follows = false }: SelectionOptions,
): readonly ObjectInputs[] => {
  const [idle] = idleWords(objects, include);
  if (idle !== undefined)
    throw new CommandFailure(
      `--include ${JSON.stringify(idle)} matches no kind, object name, or object ID. ` +
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
  const all = new Set(chosen);
  const byId = objectsById(follows ? objects : []);
  // The loop also visits what it adds.
  for (const object of all)
    for (const used of usedBy(object).flatMap((key) => byId.get(key) ?? []))
      if (!isExcluded(used)) all.add(used);
  return objects.filter((object) => all.has(object));
};

/** The names that a program gives a resource. */
interface ResourceNames {
  /** Logical name, such as `orders-bot`: no other resource of its kind has it. */
  readonly logical: string;
  /** Variable, such as `ordersBot`: no other resource of the program has it. */
  readonly variable: string;
}

const mostWords = 6;
const longestName = 40;

/**
 * Characters outside left-to-right scripts that compilers have long supported: a source with names
 * of others would be hard to read, or refused.
 */
const unwritten =
  /[^A-Za-z0-9\u00c0-\u017f\u0370-\u04ff\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fcc\uac00-\ud7a3]/g;

/**
 * Words of a text in letters and digits: accents of Latin letters go, other scripts stay. A character
 * that a TypeScript name cannot hold separates words.
 */
export const wordsIn = (text: string): readonly string[] =>
  text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replaceAll(unwritten, " ")
    .split(/[^\p{ID_Continue}]+|_+/u)
    .filter((word) => word !== "")
    .slice(0, mostWords);

const capital = (word: string): string => {
  const [first = "", ...rest] = word.toLowerCase();
  const upper = first.toUpperCase();
  return (upper.length === first.length ? upper : first) + rest.join("");
};

/** `ordersBot` of `orders`, `bot`. */
export const camelCase = (words: readonly string[]): string =>
  words.map((word, place) => (place === 0 ? word.toLowerCase() : capital(word))).join("");

/** Names that a module cannot give to a constant, or that the generated files use themselves. */
const reserved = new Set(
  (
    "abstract any arguments as async await boolean break case catch class config const continue debugger declare " +
    "default delete do else enum eval export exports extends false finally for from function get global if " +
    "implements import in infinity instanceof interface let module nan new null number object of package private " +
    "protected public pulumi require return secrets set static string super switch symbol this throw true try type " +
    "typeof undefined unknown var void while with yield __dirname __filename __proto__"
  ).split(" "),
);

const hashOf = (text: string): string => hash("sha256", text).slice(0, 6);

/** Limits the length; a hash replaces what is cut. */
const short = (words: readonly string[]): readonly string[] => {
  const whole = words.join("-");
  if (whole.length <= longestName) return words;
  return [
    ...whole
      .slice(0, longestName - 7)
      .split("-")
      .filter(Boolean),
    hashOf(whole),
  ];
};

/** The oldest object of a name keeps the plain name, so a younger one never renames it. */
const byAge = (a: ObjectInputs, b: ObjectInputs): number => {
  const age = ({ created }: ObjectInputs) => objectTime(created) || Number.POSITIVE_INFINITY;
  const [one, other] = [age(a), age(b)];
  if (one !== other) return one < other ? -1 : 1;
  return a.id < b.id ? -1 : 1;
};

/** The logical name of an object in the stack that manages it, if its mark names it. */
const markedName = ({ mark }: ObjectInputs): string | undefined => {
  const [, name = ""] = mark?.label.split(" ") ?? [];
  return /^[A-Za-z0-9][\w.@-]{0,59}$/.test(name) ? name : undefined;
};

const kindWords = ({ definition }: ObjectInputs): readonly string[] => definition.noun.split(" ");

/** The logical name of an object alone, and the words that it is made of. */
const plainName = (object: ObjectInputs) => {
  const marked = markedName(object);
  const own = short(wordsIn(marked ?? nameOf(object)));
  const words = own.length > 0 ? own : [...kindWords(object), hashOf(object.id)];
  return { logical: marked ?? words.join("-").toLowerCase(), words };
};

/** Each object with its logical name, unique within a kind, the oldest object first. */
const logicalNames = (objects: readonly ObjectInputs[]) => {
  const taken = new Set<string>();
  return objects.toSorted(byAge).map((object) => {
    const key = (logical: string) => `${object.definition.kind} ${logical}`.toLowerCase();
    const plain = plainName(object);
    const hash = hashOf(object.id);
    const unique = taken.has(key(plain.logical))
      ? { logical: `${plain.logical}-${hash}`, words: [...plain.words, hash] }
      : plain;
    taken.add(key(unique.logical));
    return { object, ...unique };
  });
};

const isName = (text: string): boolean => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text);

const variableOf = (words: readonly string[], kind: readonly string[], isShared: boolean) => {
  const plain = camelCase(words);
  if (isName(plain))
    return isShared || reserved.has(plain.toLowerCase()) ? camelCase([...words, ...kind]) : plain;
  return camelCase([...kind, ...words]);
};

/**
 * Names of all objects of an account. One that a stack manages keeps its logical name there. The
 * names of others depend on the objects alone, not on which of them a program declares: a name that
 * another kind also uses gets the kind as a suffix, a second one of a kind a hash of its ID.
 */
export const resourceNames = (
  objects: readonly ObjectInputs[],
): ReadonlyMap<ObjectInputs, ResourceNames> => {
  const names = logicalNames(objects);
  const uses = Map.groupBy(names, ({ words }) => camelCase(words));
  const taken = new Set<string>();
  return new Map(
    names.map(({ object, logical, words }) => {
      const isShared = (uses.get(camelCase(words))?.length ?? 0) > 1;
      const plain = variableOf(words, kindWords(object), isShared);
      const variable = taken.has(plain) ? `${plain}${hashOf(object.id)}` : plain;
      taken.add(variable);
      return [object, { logical, variable }];
    }),
  );
};

/** An object with its names in a program. */
export interface PlannedResource extends ResourceNames {
  readonly object: ObjectInputs;
}

/** A selected object that no program can declare, with the reason. */
interface SkippedObject {
  readonly object: ObjectInputs;
  readonly reason: string;
}

export interface PlanProgramOptions extends SelectionOptions {
  /** Declare also what a stack manages. */
  readonly managed?: boolean;
}

/** What a program does with each object of an account. */
export interface ProgramPlan {
  /** In the order in which an account is set up. */
  readonly declared: readonly PlannedResource[];
  /** Objects that the declared ones refer to and the program does not declare. */
  readonly lookedUp: readonly PlannedResource[];
  readonly skipped: readonly SkippedObject[];
  /** The resource for an object, if the program has one. */
  readonly find: (kind: string, id: string) => PlannedResource | undefined;
}

/** Why this program does not declare an existing object. */
const obstacle = (
  { mark, problem }: ObjectInputs,
  { managed = false }: PlanProgramOptions,
): string | undefined =>
  mark && !managed ? `the object carries a stack's mark: ${mark.label}` : problem;

/** A resource as commands print it. */
export const printedResource = ({
  object,
  logical,
}: Pick<PlannedResource, "object" | "logical">) => ({
  kind: object.definition.kind,
  id: object.id,
  name: logical,
});

const placeOf = ({ object }: PlannedResource): number => resources.indexOf(object.definition);

const byKindAndName = (a: PlannedResource, b: PlannedResource): number =>
  placeOf(a) - placeOf(b) || (a.logical < b.logical ? -1 : 1);

/**
 * Decides what a program declares, what it looks up, and what it omits.
 *
 * @param objects all of the account, in the order in which it is set up
 * @throws CommandFailure if a filter matches nothing
 */
export const planProgram = (
  objects: readonly ObjectInputs[],
  options: PlanProgramOptions,
): ProgramPlan => {
  const names = resourceNames(objects);
  const meant = selected(objects, options);
  const isFree = (object: ObjectInputs): boolean => obstacle(object, options) === undefined;
  const free = new Set(meant.filter(isFree));
  const used = new Set([...free].flatMap(usedBy));
  const named = (object: ObjectInputs): PlannedResource => ({
    object,
    ...(names.get(object) ?? { logical: object.id, variable: object.id }),
  });
  const inOrder = (isWanted: (object: ObjectInputs) => boolean) =>
    objects.filter(isWanted).map(named).toSorted(byKindAndName);
  const declared = inOrder((object) => free.has(object));
  const lookedUp = inOrder(
    (object) => !free.has(object) && used.has(`${object.definition.kind} ${object.id}`),
  );
  const byId = objectsById(objects);
  const planned = new Map([...declared, ...lookedUp].map((each) => [each.object, each]));
  return {
    declared,
    lookedUp,
    skipped: meant.flatMap((object) => {
      const reason = obstacle(object, options);
      return reason === undefined ? [] : [{ object, reason }];
    }),
    find: (kind, id) => {
      const object = byId.get(`${kind} ${id}`);
      return object && planned.get(object);
    },
  };
};
