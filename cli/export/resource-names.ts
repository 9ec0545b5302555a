import { hash } from "node:crypto";
import { naturalKey } from "../../provider/definition/references.js";
import { asText } from "../../provider/kernel/json.js";
import { objectTime } from "../../provider/lifecycle/ownership/mark.js";
import type { ObjectInputs } from "../account/object-inputs.js";

/** How a program calls a resource. */
export interface ResourceNames {
  /** Logical name, such as `orders-bot`: no other resource of its kind has it. */
  readonly logical: string;
  /** Variable, such as `ordersBot`: no other resource of the program has it. */
  readonly variable: string;
}

const mostWords = 6;
const longestName = 40;

/**
 * What is not of a script that is written from left to right and that compilers have known for long: a
 * source with other names would be hard to read, or refused.
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

/** At most so many characters; what is cut is told by a hash. */
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

const nameOf = ({ definition, fields }: ObjectInputs): string =>
  asText(fields[naturalKey(definition)]);

/** The oldest object of a name has it alone; so a younger one never changes what it is called. */
const byAge = (a: ObjectInputs, b: ObjectInputs): number => {
  const age = ({ created }: ObjectInputs) => objectTime(created) || Number.POSITIVE_INFINITY;
  const [one, other] = [age(a), age(b)];
  if (one !== other) return one < other ? -1 : 1;
  return a.id < b.id ? -1 : 1;
};

/** The logical name of an object in the stack that manages it, as far as its mark tells. */
const markedName = ({ mark }: ObjectInputs): string | undefined => {
  const [, name = ""] = mark?.label.split(" ") ?? [];
  return /^[A-Za-z0-9][\w.@-]{0,59}$/.test(name) ? name : undefined;
};

const kindWords = ({ definition }: ObjectInputs): readonly string[] => definition.noun.split(" ");

/** A logical name and the words that it is made of. */
interface LogicalName {
  readonly logical: string;
  readonly words: readonly string[];
}

const plainName = (object: ObjectInputs): LogicalName => {
  const marked = markedName(object);
  const own = short(wordsIn(marked ?? nameOf(object)));
  const words = own.length > 0 ? own : [...kindWords(object), hashOf(object.id)];
  return { logical: marked ?? words.join("-").toLowerCase(), words };
};

/** What each object is called, the same for no two of a kind. */
const logicalNames = (objects: readonly ObjectInputs[]): ReadonlyMap<ObjectInputs, LogicalName> => {
  const taken = new Set<string>();
  const names = new Map<ObjectInputs, LogicalName>();
  for (const object of objects.toSorted(byAge)) {
    const key = (logical: string) => `${object.definition.kind} ${logical}`.toLowerCase();
    const plain = plainName(object);
    const hash = hashOf(object.id);
    const unique = taken.has(key(plain.logical))
      ? { logical: `${plain.logical}-${hash}`, words: [...plain.words, hash] }
      : plain;
    taken.add(key(unique.logical));
    names.set(object, unique);
  }
  return names;
};

const isName = (text: string): boolean => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text);

const variableOf = (words: readonly string[], kind: readonly string[], isShared: boolean) => {
  const plain = camelCase(words);
  if (isName(plain))
    return isShared || reserved.has(plain.toLowerCase()) ? camelCase([...words, ...kind]) : plain;
  return camelCase([...kind, ...words]);
};

/**
 * Names of all objects of an account. One that a stack manages has the logical name that it has there; those
 * of others follow from the objects alone, whichever of them a program
 * declares: a name that another kind uses too is followed by the kind, a second one of a kind by a hash of
 * its id.
 */
export const resourceNames = (
  objects: readonly ObjectInputs[],
): ReadonlyMap<ObjectInputs, ResourceNames> => {
  const names = logicalNames(objects);
  const uses = new Map<string, number>();
  for (const { words } of names.values()) {
    const variable = camelCase(words);
    uses.set(variable, (uses.get(variable) ?? 0) + 1);
  }
  const taken = new Set<string>();
  return new Map(
    objects.toSorted(byAge).map((object) => {
      const { logical, words } = names.get(object) ?? plainName(object);
      const isShared = (uses.get(camelCase(words)) ?? 0) > 1;
      const plain = variableOf(words, kindWords(object), isShared);
      const variable = taken.has(plain) ? `${plain}${hashOf(object.id)}` : plain;
      taken.add(variable);
      return [object, { logical, variable }];
    }),
  );
};
