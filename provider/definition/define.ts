/** The possible members of an object. */
export interface Members {
  readonly fields: Fields;
  /** Rule about which members can or must be present. */
  readonly rule?: MemberRule | undefined;
}

/** Everything known about one kind: `npm run generate` writes its class and docs from it. */
export interface Definition extends Members {
  /**
   * Name of the resource class and the last part of its type token, such as `ClientApplication`.
   */
  readonly kind: string;
  /** The kind's name as used in sentences, such as `client application`. */
  readonly noun: string;
  /** Path segment of the collection, such as `clientapplications`. */
  readonly collection: string;
  /** Key of the array in the response to the list operation. */
  readonly listKey: string;
  readonly doc: string;
  /** Scopes that allow listing, if the read scope is not sufficient. */
  readonly listScopes?: readonly "manage"[];
  /**
   * A deletion rule that no reference expresses: while any object of these kinds exists, a service
   * that literally follows its specification refuses to delete an object of this kind.
   */
  readonly heldByAny?: {
    readonly kinds: readonly Definition[];
    readonly basis: Basis;
    readonly doc: string;
  };
  /** A complete example as a program would write it, with references as `${Kind}` placeholders. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** Declares a kind as pure data; `resources/index.ts` lists the kinds. */
export const defineResource = (definition: Definition): Definition => definition;

/**
 * How certain a fact about the service is: stated in its specification, stated in the vendor's
 * description of the interface (2026-02-19), seen in a public reference of a similar service, or
 * assumed by this project.
 */
export type Basis = "spec" | "vendor" | "public" | "assumed";

/** The attributes that any field can have, regardless of its type. */
export interface FieldNotes {
  /**
   * Description in a program's terms, in one or more sentences, for editors and the generated docs.
   */
  readonly doc: string;
  readonly basis: Basis;
  /** The object must have the field; a program may omit an automatic name. By default, optional. */
  readonly required?: true;
  /**
   * The value is encrypted in the state and never shown. A different value in the service's
   * response does not count as drift.
   */
  readonly secret?: true;
  /** Name in the service's JSON, if it differs from the name in a program. */
  readonly wire?: string;
  /**
   * What the service fills in if the member is omitted. It is never written for a program, and does
   * not differ from an omitted member.
   */
  readonly serviceDefault?: string | number | boolean;
}

export interface TextField extends FieldNotes {
  readonly type: "text";
  /** Minimum and maximum number of characters. */
  readonly min?: number;
  readonly max?: number;
  /** `time`: an ISO 8601 date-time. */
  readonly format?: "url" | "email" | "base64" | "time";
  /** The allowed values. A leading `platform_` stands for the vendor's own word on the wire. */
  readonly values?: readonly string[];
  /** No two objects of the kind can have the same value. */
  readonly unique?: true;
  /**
   * The field by which people identify the object. Messages, adoption, and the search for the
   * stack's own objects use it. `automatic`: derived from the logical name if a program omits it.
   */
  readonly names?: "given" | "automatic";
  readonly default?: string;
  /** A program can set an object, which is sent as JSON text. */
  readonly json?: true;
  /** A program sets only the text, which is sent as an object with this one key. */
  readonly envelope?: string;
}

export interface NumberField extends FieldNotes {
  readonly type: "number";
  readonly integer?: true;
  /** The service accepts fractions, but people give whole numbers: an integer in typed languages. */
  readonly usuallyWhole?: true;
  readonly min?: number;
  readonly max?: number;
}

export interface FlagField extends FieldNotes {
  readonly type: "flag";
  readonly default?: boolean;
}

/**
 * The ID of another object. A program sets the field to the resource or to its ID. The ID is sent
 * as `{ "id": … }` unless `plainId` is set.
 */
export interface ReferenceField extends FieldNotes {
  readonly type: "reference";
  readonly to: Definition;
  /** The ID is sent as text, not wrapped in an object. */
  readonly plainId?: true;
}

export interface ObjectField extends FieldNotes, Members {
  readonly type: "object";
}

export interface ListField extends FieldNotes {
  readonly type: "list";
  readonly of: Field;
  readonly min?: number;
  readonly max?: number;
  /**
   * Members by which the same item is recognized in two lists. If omitted, objects match only if
   * they have the same meaning, and other items match by value.
   */
  readonly identity?: readonly string[];
  /** No two items may have the same value for an identifying member. */
  readonly unique?: true;
  /** The order of the items does not matter. */
  readonly unordered?: true;
  /** The list is sent inside an object with this one key. */
  readonly envelope?: string;
}

/** A map in a program; on the wire, an array of objects with two members each. */
export interface MapField extends FieldNotes {
  readonly type: "map";
  readonly of: Field;
  /** The allowed keys. If omitted, any of 1 to 255 characters (`keyLengths`). */
  readonly keys?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** Names of the two members on the wire. Default: `name` and `value`. */
  readonly members?: { readonly key: string; readonly value: string };
}

export type Field =
  | TextField
  | NumberField
  | FlagField
  | ReferenceField
  | ObjectField
  | ListField
  | MapField;

/** By name in a program; `reserved` in `lifecycle/resource.ts` lists the names that are taken. */
export type Fields = Readonly<Record<string, Field>>;

/**
 * `exactlyOne`: the discriminator names the one member that must be present, and is derived from
 * that member if omitted. `atLeastOne`: one or more of the members must be present, or one `only`.
 */
export type MemberRule =
  | { readonly exactlyOne: Readonly<Record<string, string>>; readonly discriminator: string }
  | { readonly atLeastOne: readonly string[]; readonly only?: true };

/** Number of characters of every ID in the service (vendor). */
export const idLength = 36;

/** Minimum and maximum number of characters of a map's keys (vendor). */
export const keyLengths = { min: 1, max: 255 } as const;

/** Returns the members that distinguish a list's items; empty if there are none. */
export const identityOf = (field: ListField): readonly string[] =>
  field.of.type === "object" ? (field.identity ?? []) : [];

/** The definition of a field. If left out, the basis is `vendor`. */
type Given<F extends Field> = Omit<F, "type" | "basis"> & { readonly basis?: Basis };

const basis = "vendor";

export const text = (of: Given<TextField>): TextField => ({ type: "text", basis, ...of });
export const number = (of: Given<NumberField>): NumberField => ({ type: "number", basis, ...of });
export const flag = (of: Given<FlagField>): FlagField => ({ type: "flag", basis, ...of });
export const object = (of: Given<ObjectField>): ObjectField => ({ type: "object", basis, ...of });
export const list = (of: Given<ListField>): ListField => ({ type: "list", basis, ...of });
export const map = (of: Given<MapField>): MapField => ({ type: "map", basis, ...of });
export const reference = (
  to: Definition,
  of: Omit<Given<ReferenceField>, "to">,
): ReferenceField => ({ type: "reference", to, basis, ...of });

/** Returns the fields that every kind has, with docs that use the kind's noun. */
export const commonFields = (noun: string) => ({
  description: text({ doc: `Purpose of the ${noun}.`, min: 1, max: 1023 }),
  active: flag({ doc: `Whether the ${noun} is in use.`, default: true }),
});

/** Returns the fields that every kind has, plus a name that is unique within the kind. */
export const namedFields = (noun: string) => ({
  name: text({
    doc: "Name; derived from the logical name if omitted.",
    required: true,
    unique: true,
    names: "automatic",
    min: 1,
    max: 255,
  }),
  ...commonFields(noun),
});

/** Fields that the service sets and a program can only read. */
export const outputFields = {
  created: text({
    doc: "When the service created the object, in ISO 8601 format: GMT, with milliseconds.",
  }),
  modified: text({
    doc: "When the object was last changed, in ISO 8601 format: GMT, with milliseconds.",
  }),
} as const satisfies Fields;
