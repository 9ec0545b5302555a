import type { StoredObject } from "../../../emulator/index.js";
import { type Definition, outputFields } from "../../../provider/definition/define.js";
import { sameJson } from "../../../provider/kernel/json.js";
import { nameOnWire } from "../../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../../provider/resources/index.js";
import type { CopiedObjects } from "../service/account-copy.js";
import type { AccountChange, NamedObject } from "./outcome.js";

/** What the service itself sets. */
export const serverSet: ReadonlySet<string> = new Set(["id", ...Object.keys(outputFields)]);

/** An object as people know it. */
export const namedObject = (
  definition: Definition,
  object: StoredObject,
  profile?: string,
): NamedObject & { readonly id: string } => ({
  kind: definition.kind,
  name: String(nameOnWire(definition, object) ?? ""),
  id: object.id,
  ...(profile === undefined ? {} : { profile }),
});

const changedMembers = (before: StoredObject, after: StoredObject): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !serverSet.has(name) && !sameJson(before[name], after[name]))
    .sort();

const changesOfKind = (
  definition: Definition,
  before: readonly StoredObject[],
  after: readonly StoredObject[],
  profile: string | undefined,
): readonly AccountChange[] => {
  const [old, now] = [before, after].map((list) => new Map(list.map((each) => [each.id, each])));
  const named = (object: StoredObject) => namedObject(definition, object, profile);
  const made = after.flatMap((object): AccountChange[] => {
    if (old?.has(object.id)) return [];
    const { id: _, ...rest } = named(object);
    return [{ change: "made", ...rest }];
  });
  const others = before.flatMap((object): AccountChange[] => {
    const left = now?.get(object.id);
    if (!left) return [{ change: "deleted", ...named(object) }];
    const members = changedMembers(object, left);
    return members.length > 0 ? [{ change: "changed", ...named(object), members }] : [];
  });
  return [...made, ...others];
};

/** What a run has changed in an account, kind by kind in set-up order. */
export const rehearsedChanges = (
  before: CopiedObjects,
  after: CopiedObjects,
  profile: string | undefined,
): readonly AccountChange[] =>
  resources.flatMap((definition) =>
    changesOfKind(
      definition,
      before[definition.collection] ?? [],
      after[definition.collection] ?? [],
      profile,
    ),
  );
