import { hash } from "node:crypto";
import { referencesIn } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { asText } from "../../provider/kernel/json.js";
import { wildcardPattern } from "../../provider/kernel/text.js";
import { objectTime } from "../../provider/lifecycle/ownership.js";
import { nameOfLabel } from "../../provider/lifecycle/resource.js";
import { resources } from "../../provider/resources/index.js";
import { CommandFailure } from "../command.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";

export interface SelectionOptions {
  /** Each is a kind, a name with `*` for any text, or an ID. Default: everything. */
  readonly include?: readonly string[];
  /** The same, for objects to omit. */
  readonly exclude?: readonly string[];
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

const matcher = (word: string): ((object: ObjectInputs) => boolean) => {
  const kind = kindNamed(word);
  if (kind) return ({ definition }) => definition === kind;
  const pattern = wildcardPattern(word, "i");
  return (object) => object.id === word || pattern.test(nameOf(object));
};

/**
 * The selected objects, in the order of the account.
 *
 * @throws CommandFailure if a word of `include` matches nothing
 */
export const selected = (
  objects: readonly ObjectInputs[],
  { include, exclude = [] }: SelectionOptions,
): readonly ObjectInputs[] => {
  const idle = include?.find((word) => !kindNamed(word) && !objects.some(matcher(word)));
  if (idle !== undefined)
    throw new CommandFailure(
      `--include ${JSON.stringify(idle)} matches no kind, object name, or object ID. ` +
        `Kinds: ${resources.map(({ kind }) => kind).join(", ")}.`,
    );
  const [includers, excluders] = [include?.map(matcher), exclude.map(matcher)];
  return objects.filter(
    (object) =>
      !excluders.some((matches) => matches(object)) &&
      (includers?.some((matches) => matches(object)) ?? true),
  );
};

interface ResourceNames {
  /** Logical name, such as `orders-bot`: no other resource of its kind has it. */
  readonly logical: string;
  /** Variable, such as `participantOrdersBot`: no other resource of the program has it. */
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

const hashOf = (text: string): string => hash("sha256", text).slice(0, 6);

const shortened = (words: readonly string[]): readonly string[] =>
  words.join("-").slice(0, longestName).split("-").filter(Boolean);

/** The oldest object of a name keeps the plain name, so a younger one never renames it. */
const byAge = (a: ObjectInputs, b: ObjectInputs): number => {
  const age = ({ created }: ObjectInputs) => objectTime(created) || Number.POSITIVE_INFINITY;
  const [one, other] = [age(a), age(b)];
  if (one !== other) return one < other ? -1 : 1;
  return a.id < b.id ? -1 : 1;
};

/** The logical name of an object in the stack that manages it, if its mark names it. */
const markedName = ({ mark }: ObjectInputs): string | undefined => {
  const name = mark ? nameOfLabel(mark.label) : "";
  return /^[A-Za-z0-9][\w.@-]{0,59}$/.test(name) ? name : undefined;
};

const kindWords = ({ definition }: ObjectInputs): readonly string[] => definition.noun.split(" ");

/** The logical name of an object alone, and the words that it is made of. */
const plainName = (object: ObjectInputs) => {
  const marked = markedName(object);
  const own = shortened(wordsIn(marked ?? nameOf(object)));
  const words = own.length > 0 ? own : [...kindWords(object), hashOf(object.id)];
  return { logical: marked ?? words.join("-").toLowerCase(), words };
};

/** Each object with its logical name, unique within a kind. */
const logicalNames = (objects: readonly ObjectInputs[]) => {
  const taken = new Set<string>();
  return objects.map((object) => {
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

/**
 * Names of all objects of an account. They depend on the objects alone, not on which of them a
 * program declares: a second one of a kind gets a hash of its ID as a suffix. Variables begin with
 * the kind, so none is a reserved word.
 *
 * @param isOwn whether a stack made the object, which then keeps its logical name. Default: none
 */
export const resourceNames = (
  objects: readonly ObjectInputs[],
  isOwn: (object: ObjectInputs) => boolean = () => false,
): ReadonlyMap<ObjectInputs, ResourceNames> => {
  const taken = new Set<string>();
  const own = new Set(objects.filter(isOwn));
  const byRight = (a: ObjectInputs, b: ObjectInputs): number =>
    Number(own.has(b)) - Number(own.has(a)) || byAge(a, b);
  return new Map(
    logicalNames(objects.toSorted(byRight)).map(({ object, logical, words }) => {
      const plain = camelCase([...kindWords(object), ...words]);
      const variable = taken.has(plain) ? `${plain}${hashOf(object.id)}` : plain;
      taken.add(variable);
      return [object, { logical, variable }];
    }),
  );
};

export interface PlannedResource extends ResourceNames {
  readonly object: ObjectInputs;
}

export interface ProgramPlan {
  /** In the order in which an account is set up. */
  readonly declared: readonly PlannedResource[];
  /** Objects that the declared ones refer to and the program does not declare. */
  readonly lookedUp: readonly PlannedResource[];
  /** Selected objects that no program can declare, with the reason. */
  readonly skipped: readonly { readonly object: ObjectInputs; readonly reason: string }[];
  readonly find: (kind: string, id: string) => PlannedResource | undefined;
}

/** Why this program does not declare an existing object. */
const obstacle = ({ mark, problem }: ObjectInputs): string | undefined =>
  mark ? `the object carries a stack's mark: ${mark.label}` : problem;

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
  options: SelectionOptions,
): ProgramPlan => {
  const names = resourceNames(objects);
  const meant = selected(objects, options);
  const free = new Set(meant.filter((object) => obstacle(object) === undefined));
  const keyOf = ({ definition, id }: ObjectInputs) => `${definition.kind} ${id}`;
  const used = new Set(
    [...free].flatMap(({ definition, fields }) =>
      referencesIn(definition.fields, fields).map(({ to, id }) => `${to.kind} ${id}`),
    ),
  );
  const inOrder = (isWanted: (object: ObjectInputs) => boolean): readonly PlannedResource[] =>
    objects
      .filter(isWanted)
      .map((object) => ({
        object,
        ...(names.get(object) ?? { logical: object.id, variable: object.id }),
      }))
      .toSorted(byKindAndName);
  const declared = inOrder((object) => free.has(object));
  const lookedUp = inOrder((object) => !free.has(object) && used.has(keyOf(object)));
  const planned = new Map([...declared, ...lookedUp].map((each) => [keyOf(each.object), each]));
  return {
    declared,
    lookedUp,
    skipped: meant.flatMap((object) => {
      const reason = obstacle(object);
      return reason === undefined ? [] : [{ object, reason }];
    }),
    find: (kind, id) => planned.get(`${kind} ${id}`),
  };
};
