import { type Basis, type Fields, flag, type MemberRule, text } from "./field.js";

/** Everything the project knows about one kind of set-up object. */
export interface Definition {
  /** Name of the resource class and last part of its type token, such as `ClientApplication`. */
  readonly kind: string;
  /** The kind in a sentence, such as `client application`. */
  readonly noun: string;
  /** Path segment of the collection, such as `clientapplications`. */
  readonly collection: string;
  /** Key of the array in the answer of the list operation. */
  readonly listKey: string;
  readonly doc: string;
  /** Scopes that allow listing, where the read scope is not enough. */
  readonly listScopes?: readonly "manage"[];
  readonly fields: Fields;
  readonly rule?: MemberRule;
  /**
   * A deletion rule that no reference expresses: while any object of these kinds exists, a
   * service that reads its specification literally refuses to delete.
   */
  readonly heldByAny?: {
    readonly kinds: readonly Definition[];
    readonly basis: Basis;
    readonly doc: string;
  };
  /** A complete example as a program would write it, references as `${Kind}` placeholders. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** Declares a kind. Pure data: nothing is registered, built or checked here. */
export const defineResource = (definition: Definition): Definition => definition;

/** Members that every kind has, in the words of the kind. */
export const commonFields = (noun: string) => ({
  description: text({
    doc: `What the ${noun} is for.`,
    basis: "public",
    min: 1,
    max: 1023,
  }),
  active: flag({ doc: `Whether the ${noun} is in use.`, basis: "public", default: true }),
});

/** Members that the service sets and a program only reads. */
export const outputFields = {
  created: text({
    doc: "When the service made the object: ISO 8601, GMT, milliseconds.",
    basis: "public",
  }),
  modified: text({
    doc: "When the object was last changed: ISO 8601, GMT, milliseconds.",
    basis: "public",
  }),
} as const satisfies Fields;
