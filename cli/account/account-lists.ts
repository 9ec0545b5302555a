import type { Definition } from "../../provider/definition/define.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { fieldsFromWire, neutralVendor } from "../../provider/definition/wire.js";
import type { ConversationError } from "../../provider/kernel/errors.js";
import type { WireObject } from "../../provider/service/collections.js";

/** All objects of one kind, or why they could not be read. */
export interface KindReading {
  readonly definition: Definition;
  /**
   * By id, as the list shows them. An object whose id no call can use is there under a text that is no
   * id. Empty where the list could not be read.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** Why objects are missing: the list was refused, or not all of its pages came. Left out: none are. */
  readonly problem?: string;
  /**
   * Its pages counted different numbers of objects: others came or went between two pages, so that one
   * that moved to another page may be missing.
   */
  readonly moved?: true;
  /** The failure, where nothing of the list came. */
  readonly error?: ConversationError;
}

/** Every kind, in the order in which an account is set up. */
export interface AccountLists {
  readonly kinds: readonly KindReading[];
}

/** A reference to an object that its list does not have. */
export interface OpenEnd {
  readonly from: Definition;
  readonly fromId: string;
  /** As a person would write it, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: string;
}

/** Every reference of an object, as the service's JSON holds it. */
export const wireReferences = (definition: Definition, wire: WireObject) =>
  referencesIn(definition.fields, fieldsFromWire(definition.fields, wire, neutralVendor)).flatMap(
    ({ id, ...rest }) =>
      typeof id === "string" || typeof id === "number" ? [{ ...rest, id: String(id) }] : [],
  );

/** References to objects that no list has, among the kinds whose lists are whole. */
export const danglingAmong = ({ kinds }: AccountLists): readonly OpenEnd[] => {
  const whole = new Map(
    kinds.filter(({ problem }) => !problem).map((each) => [each.definition.kind, each.objects]),
  );
  return kinds.flatMap(({ definition: from, objects }) =>
    [...objects].flatMap(([fromId, wire]) =>
      wireReferences(from, wire)
        .filter(({ to, id }) => whole.get(to.kind)?.has(id) === false)
        .map(({ path, to, id }) => ({ from, fromId, path, to, id })),
    ),
  );
};
