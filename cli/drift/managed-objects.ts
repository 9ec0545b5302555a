import { changesOf, extraChanges } from "../../provider/definition/changes.js";
import type { Definition } from "../../provider/definition/define.js";
import { asText, isObject } from "../../provider/kernel/json.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import { type Properties, propertiesIn } from "../../provider/lifecycle/state.js";
import type { WireObject } from "../../provider/service/collections.js";
import {
  definitionOfType,
  openedValues,
  type StateResource,
  sealedFields,
  veiledIn,
} from "../stack/stack-export.js";
import { type AccountRead, kindIn, profileIn, type StackReading } from "../stack/stack-reading.js";
import type { DriftChange } from "./drift.js";
import { type SecretPlace, secretPlaces } from "./secret-standing.js";

/** A resource of the stack that stands for an object, and the object as it was read. */
export interface ComparedObject {
  readonly definition: Definition;
  readonly resource: StateResource;
  readonly id: string;
  readonly name: string;
  readonly account: AccountRead;
  readonly before: Properties;
  /** Undefined where it is gone, or where its kind could not be read. */
  readonly live: WireObject | undefined;
  /** Whether its kind was read whole, so that absence counts. */
  readonly isRead: boolean;
  readonly changes: readonly DriftChange[];
  readonly secrets: readonly SecretPlace[];
  /** What the program marks as secret in `extra`: what the service shows there is not compared. */
  readonly extraSecrets: readonly string[];
  /** When the object was changed, where that was later than this stack's last write. */
  readonly changedSince?: string;
}

/** Fields that the program declares and whose live value means something else. */
const changesIn = (
  { fields }: Definition,
  before: Properties,
  now: Properties,
  shown: ReturnType<typeof veiledIn>,
): readonly DriftChange[] => {
  // What the program marks as secret there is read as the state has it, so that none of it differs.
  const inExtra = isObject(before.extra)
    ? extraChanges(isObject(now.extra) ? now.extra : {}, before.extra)
    : [];
  return [...changesOf(fields, now.fields, before.fields), ...inExtra].map(
    ({ path, from, to }) => ({
      path,
      ...(to === undefined ? {} : { state: shown(path, to) }),
      ...(from === undefined ? {} : { live: shown(path, from) }),
    }),
  );
};

const nameOf = (definition: Definition, live: WireObject | undefined, before: Properties): string =>
  asText(nameOnWire(definition, live ?? before.fields));

const compared = async (
  resource: StateResource,
  id: string,
  definition: Definition,
  reading: StackReading,
): Promise<ComparedObject> => {
  const values = openedValues(resource.outputs);
  const account = reading.accountOf(profileIn(resource.inputs));
  const { objects, problem } = kindIn(account, definition);
  const before = propertiesIn(values);
  const live = objects.get(id);
  const { extraSecrets: marked = [] } = before;
  const extraSecrets = marked.map((path) => ["extra", path].filter(Boolean).join("."));
  const isRead = problem === undefined;
  const found = { definition, resource, id, account, before, live, isRead, extraSecrets };
  const name = nameOf(definition, live, before);
  if (!live) return { ...found, name, changes: [], secrets: [] };
  const { props } = await lifecycle(definition, reading.run).read(id, values);
  const now = propertiesIn(openedValues(props));
  const sealed = [resource.inputs, resource.outputs].flatMap((values = {}) =>
    sealedFields(definition, values),
  );
  const isLater = now.record.modified !== before.record.modified;
  return {
    ...found,
    name,
    changes: changesIn(definition, before, now, veiledIn(sealed)),
    secrets: secretPlaces(definition, before.fields, live, account.access.settings),
    ...(isLater && now.record.modified ? { changedSince: now.record.modified } : {}),
  };
};

/** Compares every resource of the stack that stands for an object with it. Reads lists only, as far as they show whole objects. */
export const comparedObjects = async (
  reading: StackReading,
): Promise<readonly ComparedObject[]> => {
  const resources = reading.document.deployment.resources ?? [];
  const all = await Promise.all(
    resources.map(async (resource) => {
      const definition = definitionOfType(resource.type);
      const { id, external, delete: leaving } = resource;
      if (!definition || !id || external === true || leaving === true) return [];
      return [await compared(resource, id, definition, reading)];
    }),
  );
  return all.flat();
};
