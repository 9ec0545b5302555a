import { type ChangeValue, changeInside, changeMembers } from "../../provider/definition/walk.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { ComparedSide } from "./compared-account.js";

/** The same object on both sides. */
interface Linked {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
}

/** What stands for references: the same text on both sides where they lead to the same object, else another one. */
export class Links {
  readonly #texts = { a: new Map<string, string>(), b: new Map<string, string>() };
  readonly #taken = new Set<string>();
  readonly #unread: ReadonlySet<string>;

  /** @param unread kinds of which one side lacks objects: nobody can tell where their references lead */
  constructor(unread: ReadonlySet<string> = new Set()) {
    this.#unread = unread;
  }

  add({ a, b }: Linked): void {
    const { kind } = a.definition;
    const text = this.#unique(`${kind} ${a.name}`);
    this.#texts.a.set(`${kind} ${a.id}`, text);
    this.#texts.b.set(`${kind} ${b.id}`, text);
  }

  /** Objects of one name are told apart by a number. */
  #unique(text: string): string {
    let found = text;
    for (let number = 2; this.#taken.has(found); number += 1) found = `${text} (${number})`;
    this.#taken.add(found);
    return found;
  }

  of(side: "a" | "b", kind: string, id: unknown): string {
    if (this.#unread.has(kind)) return `${kind} that could not be read`;
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
 * The fields of both sides, with names in the place of ids of what is on both sides, and without what
 * one side has encrypted.
 */
export const linkedFields = (
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
