import { writeFile } from "node:fs/promises";
import type { z } from "zod";
import { nameStem } from "../../provider/definition/automatic-name.js";
import { changesOf } from "../../provider/definition/changes.js";
import type { Definition } from "../../provider/definition/define.js";
import {
  type ChangeValue,
  changeInside,
  changeMembers,
  naturalKey,
  referencesIn,
  setUpOrder,
} from "../../provider/definition/fields.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { type JsonObject, objectOf, type Printed } from "../../provider/kernel/json.js";
import { digest } from "../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../provider/resources/index.js";
import { CommandFailure, incompleteExitCode, messageOf } from "../command.js";
import { savedAccount } from "../inventory/object-inputs.js";
import { readAccountInputs } from "../inventory/open-account.js";
import { veiledIn } from "../pulumi/stack-documents.js";
import {
  type ComparedAccount,
  type ComparedSide,
  type CompareOptions,
  comparedAccounts,
} from "./compared-account.js";
import type {
  comparisonSchema,
  differentSchema,
  oneSidedSchema,
  sideDifferenceSchema,
} from "./schemas.js";

/** A name as people compare it. */
const plainName = (name: string): string => name.normalize("NFC").trim();

/** How far objects are followed: an account leads to a channel, or over two more to an authentication. */
const rounds = 3;
const length = 16;

const keyOf = ({ definition: { kind } }: ComparedSide, id: string): string => `${kind} ${id}`;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

const edgesAmong = (objects: readonly ComparedSide[]): readonly Edge[] =>
  objects.flatMap((object) =>
    referencesIn(object.definition.fields, object.fields).map(({ to, id, path }) => ({
      from: keyOf(object, object.id),
      to: `${to.kind} ${id}`,
      path,
    })),
  );

const firstText = ({ definition: { kind }, name }: ComparedSide): string => {
  const plain = plainName(name);
  return `${kind} ${nameStem(plain) ?? plain}`;
};

/**
 * A text for each object with the names of its neighbors: what it refers to, and what refers to it.
 * It distinguishes two objects of one name on one side and finds them again on the other.
 */
const neighbours = (objects: readonly ComparedSide[]): ReadonlyMap<ComparedSide, string> => {
  const edges = edgesAmong(objects);
  const [out, into] = [Map.groupBy(edges, ({ from }) => from), Map.groupBy(edges, ({ to }) => to)];
  let texts = new Map(objects.map((each) => [keyOf(each, each.id), firstText(each)]));
  for (let round = 0; round < rounds; round += 1) {
    const before = texts;
    const around = (key: string): readonly string[] => [
      before.get(key) ?? key,
      ...(out.get(key) ?? []).map(({ path, to }) => `> ${path} ${before.get(to) ?? ""}`).sort(),
      ...(into.get(key) ?? []).map(({ path, from }) => `< ${path} ${before.get(from)}`).sort(),
    ];
    texts = new Map([...before.keys()].map((key) => [key, digest(around(key).join("\n"), length)]));
  }
  return new Map(objects.map((each) => [each, texts.get(keyOf(each, each.id)) ?? ""]));
};

/** The same object on both sides. */
interface Linked {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

/**
 * Stand-ins for references: the same text on both sides if they lead to the same object, else
 * different ones.
 */
class Links {
  readonly #texts = { a: new Map<string, string>(), b: new Map<string, string>() };
  readonly #taken = new Set<string>();
  readonly #unread: ReadonlySet<string>;

  /**
   * @param unread kinds with objects missing on one side: where references to them lead is not
   * known
   */
  constructor(unread: ReadonlySet<string> = new Set()) {
    this.#unread = unread;
  }

  add({ a, b }: Linked): void {
    const { kind } = a.definition;
    const text = this.#unique(`${kind} ${a.name}`);
    this.#texts.a.set(`${kind} ${a.id}`, text);
    this.#texts.b.set(`${kind} ${b.id}`, text);
  }

  /** A number distinguishes objects of one name. */
  #unique(text: string): string {
    let found = text;
    for (let number = 2; this.#taken.has(found); number += 1) found = `${text} (${number})`;
    this.#taken.add(found);
    return found;
  }

  of(side: "a" | "b", kind: string, id: unknown): string {
    if (this.#unread.has(kind)) return `unreadable ${kind}`;
    const whole = `${kind} ${id}`;
    return this.#texts[side].get(whole) ?? whole;
  }
}

type Link = (kind: string, id: unknown) => unknown;

const linked = ({ definition, fields }: ComparedSide, hidden: Set<string>, link: Link) => {
  const inner: ChangeValue = (field, value) => {
    if (value === undefined || value === null) return undefined;
    return field.type === "reference"
      ? link(field.to.kind, value)
      : changeInside(field, value, inner);
  };
  const seen = Object.entries(fields).filter(([name]) => !hidden.has(name));
  return changeMembers(definition.fields, objectOf(seen), inner);
};

/**
 * The fields of both sides, with names in place of the IDs of objects on both sides, and without
 * what one side has encrypted.
 */
const linkedFields = (
  a: ComparedSide,
  b: ComparedSide,
  links: Links,
): readonly [JsonObject, JsonObject] => {
  const hidden = new Set([...(a.encrypted ?? []), ...(b.encrypted ?? [])]);
  return [
    linked(a, hidden, (kind, id) => links.of("a", kind, id)),
    linked(b, hidden, (kind, id) => links.of("b", kind, id)),
  ];
};

/** The criterion by which two objects were matched. */
type MatchedBy = "name" | "logical name" | "automatic name" | "references";

/** The same object on both sides. */
interface MatchedPair {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
  readonly by: MatchedBy;
}

/** The objects found on both sides, and on one only. */
interface MatchedObjects {
  readonly pairs: readonly MatchedPair[];
  readonly links: Links;
  readonly onlyInA: readonly ComparedSide[];
  readonly onlyInB: readonly ComparedSide[];
}

type Side = "a" | "b";
type KeyOf = (object: ComparedSide, side: Side) => string | undefined;
type Fits = (a: ComparedSide, b: ComparedSide) => boolean;

const keysOf: readonly (readonly [MatchedBy, KeyOf])[] = [
  ["name", ({ name }) => plainName(name) || undefined],
  ["logical name", ({ logicalName }) => logicalName],
  ["automatic name", ({ name }) => nameStem(plainName(name))],
];

const withoutName = (object: ComparedSide): ComparedSide => {
  const { [naturalKey(object.definition)]: _, ...fields } = object.fields;
  return { ...object, fields };
};

const unreadOf = ({ unread = [] }: ComparedAccount): readonly string[] => unread;

/** Objects that the other side certainly does not have. */
const missingIn = (
  objects: readonly ComparedSide[],
  { unread = [], unreadIn }: ComparedAccount,
): readonly ComparedSide[] =>
  objects.filter(({ definition: { kind }, tenant }) =>
    unreadIn
      ? !unreadIn.some(([where, what]) => where === tenant && what === kind)
      : !unread.includes(kind),
  );

class Matching {
  readonly pairs: MatchedPair[] = [];
  readonly links: Links;
  readonly #free: Readonly<Record<Side, Set<ComparedSide>>>;
  readonly #around: ReadonlyMap<ComparedSide, string>;

  constructor(a: ComparedAccount, b: ComparedAccount) {
    this.links = new Links(new Set([...unreadOf(a), ...unreadOf(b)]));
    this.#free = { a: new Set(a.objects), b: new Set(b.objects) };
    this.#around = new Map([...neighbours(a.objects), ...neighbours(b.objects)]);
  }

  free(side: Side): readonly ComparedSide[] {
    return [...this.#free[side]];
  }

  #byKey(side: Side, { kind }: Definition, keyOf: KeyOf) {
    const all = this.free(side).filter(({ definition }) => definition.kind === kind);
    return Map.groupBy(all, (each) => {
      const key = keyOf(each, side);
      return key === undefined ? undefined : `${each.tenant ?? ""} ${key}`;
    });
  }

  /** Pairs objects of one key; those that also match in everything else are paired first. */
  pairBy(definition: Definition, by: MatchedBy, keyOf: KeyOf, fits: readonly Fits[]): void {
    const [as, bs] = [this.#byKey("a", definition, keyOf), this.#byKey("b", definition, keyOf)];
    for (const [key, ones] of as) {
      const others = key === undefined ? undefined : bs.get(key);
      for (const isFit of others ? fits : [])
        for (const a of ones) {
          if (!this.#free.a.has(a)) continue;
          const found = others?.find((b) => this.#free.b.has(b) && isFit(a, b));
          if (found) this.#pair(a, found, by);
        }
    }
  }

  #pair(a: ComparedSide, b: ComparedSide, by: MatchedBy): void {
    this.#free.a.delete(a);
    this.#free.b.delete(b);
    this.pairs.push({ a, b, by });
    this.links.add({ a, b });
  }

  readonly isSame: Fits = (a, b) => {
    const { fields } = a.definition;
    const [left, right] = linkedFields(a, b, this.links);
    return sameFieldsMeaning(fields, left, right) && sameFieldsMeaning(fields, right, left);
  };

  readonly isPlacedSame: Fits = (a, b) => this.#around.get(a) === this.#around.get(b);

  /** Where an object leads, regardless of its name; undefined if nowhere. */
  readonly whereItLeads: KeyOf = ({ definition, fields }, side) => {
    const references = referencesIn(definition.fields, fields);
    const places = references.map(({ to, id }) => this.links.of(side, to.kind, id)).sort();
    return places.length === 0 ? undefined : places.join("\n");
  };
}

/**
 * Finds the same objects on two sides, never by their IDs: by their natural key, by the logical
 * name in a program, by an automatic name without its suffix, and last by what they refer to.
 * Referenced objects come first, so that references can be followed. Among several with one name,
 * it pairs those that are equal or that the same objects refer to.
 */
export const matchedObjects = (a: ComparedAccount, b: ComparedAccount): MatchedObjects => {
  const matching = new Matching(a, b);
  const { isSame, isPlacedSame } = matching;
  const closest: readonly Fits[] = [
    (one, other) => isPlacedSame(one, other) && isSame(one, other),
    isSame,
    isPlacedSame,
    () => true,
  ];
  const sameShape: Fits = (one, other) => isSame(withoutName(one), withoutName(other));
  for (const definition of setUpOrder(resources)) {
    for (const [by, keyOf] of keysOf) matching.pairBy(definition, by, keyOf, closest);
    matching.pairBy(definition, "references", matching.whereItLeads, [sameShape]);
  }
  const { pairs, links } = matching;
  return {
    ...{ pairs, links },
    onlyInA: missingIn(matching.free("a"), b),
    onlyInB: missingIn(matching.free("b"), a),
  };
};

/** A field whose meaning differs between the two sides. */
export type SideDifference = Printed<z.output<typeof sideDifferenceSchema>>;

/** An object that is on one side only. */
export type OneSided = Printed<z.output<typeof oneSidedSchema>>;

/** An object that is on both sides but differs. */
type DifferentObject = Printed<z.output<typeof differentSchema>>;

/** What differs between two accounts. */
export type Comparison = Printed<z.output<typeof comparisonSchema>>;

const secretNote = "Secrets are not compared.";

/** Automatic names end in another suffix in each stack. */
const haveSameStem = ({ a, b }: MatchedPair): boolean => {
  const [one, other] = [a, b].map(({ name }) => nameStem(plainName(name)));
  return one !== undefined && one === other;
};

/** In which fields the two objects of a pair differ. */
export const differencesOf = (pair: MatchedPair, links: Links): readonly SideDifference[] => {
  const { a, b } = pair;
  const { definition } = a;
  const shown = veiledIn([...(a.sealed ?? []), ...(b.sealed ?? [])]);
  const [left, right] = linkedFields(a, b, links);
  const forward = changesOf(definition.fields, left, right).map(
    ({ path, from, to }): SideDifference => ({
      path,
      ...(from === undefined ? {} : { a: shown(path, from) }),
      ...(to === undefined ? {} : { b: shown(path, to) }),
    }),
  );
  const known = new Set(forward.map(({ path }) => path));
  const backward = changesOf(definition.fields, right, left).flatMap(
    ({ path, from, to }): readonly SideDifference[] =>
      known.has(path) || from !== undefined
        ? []
        : [{ path, ...(to === undefined ? {} : { a: shown(path, to) }) }],
  );
  const isSameName = haveSameStem(pair);
  return [...forward, ...backward].filter(
    ({ path }) => !(isSameName && path === naturalKey(definition)),
  );
};

const oneSided = ({ definition, name, id }: ComparedSide): OneSided => ({
  ...{ kind: definition.kind, name, id },
});

const unreadIn = (side: "a" | "b", { unread = [] }: ComparedAccount): Comparison["unread"] =>
  unread.map((kind) => ({ side, kind }));

/** Whether something was found to differ, regardless of what could not be read. */
export const isDifferent = ({ different, onlyInA, onlyInB }: Comparison): boolean =>
  different.length + onlyInA.length + onlyInB.length > 0;

/** Compares two accounts by meaning: objects by their names, references by their targets. */
export const comparison = (a: ComparedAccount, b: ComparedAccount): Comparison => {
  const { pairs, links, onlyInA, onlyInB } = matchedObjects(a, b);
  const different = pairs.flatMap((pair): readonly DifferentObject[] => {
    const differences = differencesOf(pair, links);
    if (differences.length === 0) return [];
    const { definition, name, id } = pair.a;
    return [
      {
        ...{ kind: definition.kind, name, idA: id, idB: pair.b.id },
        ...{ matchedBy: pair.by, differences },
      },
    ];
  });
  const unread = [...unreadIn("a", a), ...unreadIn("b", b)];
  const consistent = [a, b].every((side) => side.consistent !== false);
  return {
    ...{ a: a.title, b: b.title },
    same: different.length + onlyInA.length + onlyInB.length + unread.length === 0 && consistent,
    matched: pairs.length,
    different,
    onlyInA: onlyInA.map(oneSided),
    onlyInB: onlyInB.map(oneSided),
    ...{ unread, consistent },
    notes: [...a.notes, ...b.notes, secretNote],
  };
};

/**
 * Compares two sides.
 *
 * @throws CommandFailure if a side cannot be found or read
 */
export const runCompare = async (
  a: string,
  b: string,
  options: CompareOptions,
): Promise<Comparison> => comparison(...(await comparedAccounts(a, b, options)));

/**
 * Saves a live account without its secrets, for a later comparison.
 *
 * @returns how many objects it holds, and what could not be read
 * @throws CommandFailure if the file cannot be written, or exists and would lose what was not read
 */
export const saveAccount = async (
  source: string,
  file: string,
  options: CompareOptions,
): Promise<{ readonly objects: number; readonly notes: readonly string[] }> => {
  const profile = /^profile:(.+)$/.exec(source)?.[1] ?? (source === "live" ? undefined : source);
  const asked = { ...options, ...(profile ? { profile } : {}) };
  const { reading, objects, notes } = await readAccountInputs(asked);
  const text = `${JSON.stringify(savedAccount(reading), null, 2)}\n`;
  const flag = notes.length > 0 ? "wx" : "w";
  await writeFile(file, text, { mode: 0o600, flag }).catch((error: NodeJS.ErrnoException) => {
    if (flag === "w" || error.code !== "EEXIST")
      throw new CommandFailure(`Cannot save the account to ${file}: ${messageOf(error)}`);
    throw new CommandFailure(
      `Nothing was saved: the account could not be read completely, and ${file} stays as it is. Save to another file, or fix this first: ${notes.join(" ")}`,
      incompleteExitCode,
    );
  });
  return { objects: objects.length, notes };
};
