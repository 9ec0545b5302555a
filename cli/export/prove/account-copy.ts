import type { Definition } from "../../../provider/definition/define.js";
import { mergeFields } from "../../../provider/definition/merge.js";
import { normaliseFields } from "../../../provider/definition/normalise.js";
import { namingOf } from "../../../provider/definition/references.js";
import { bodyOf } from "../../../provider/definition/wire.js";
import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";
import { isId } from "../../../provider/kernel/object-id.js";
import { readMark } from "../../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../../provider/resources/index.js";
import type { Settings } from "../../../provider/service/setting-table.js";
import type { ObjectInputs } from "../../account/object-inputs.js";

/** Where a service tells no time, any will do. */
const unknownTime = "2000-01-01T00:00:00.000Z";

type Vendor = Pick<Settings, "platformName">;

/** Without what is empty: a service may give it for what is not there, and the rules may not allow it. */
const filled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(filled);
  if (!isObject(value)) return value === "" ? undefined : value;
  const members = objectOf(Object.entries(value).map(([name, of]) => [name, filled(of)]));
  return Object.keys(members).length === 0 ? undefined : members;
};

/** An object with all that the service shows of it, but for its mark. */
const copyOf = (object: ObjectInputs, settings: Vendor): JsonObject => {
  const { definition, id, fields, wire } = object;
  const { created = unknownTime, modified = unknownTime } = object;
  const { body } = mergeFields({
    ...{ fields: definition.fields, rule: definition.rule },
    live: objectOf(
      Object.entries({ ...wire, description: readMark(wire.description).description }).map(
        ([name, value]) => [name, filled(value)],
      ),
    ),
    desired: bodyOf(definition, fields, settings),
    prior: {},
    keeps: false,
  });
  return { ...body, id, created, modified };
};

/** The example of a kind, its references with ids. */
const exampleOf = ({ example }: Pick<Definition, "example">): JsonObject =>
  objectOf(Object.entries(example).map(([name, value]) => [name, withIds(value)]));

const withIds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withIds);
  if (typeof value === "string") return /^\$\{\w+\}$/.test(value) ? "0".repeat(36) : value;
  return isObject(value) ? exampleOf({ example: value }) : value;
};

/** What stands for an object that no program can declare, and may look up. */
const standIn = ({ definition, id }: ObjectInputs, settings: Vendor): JsonObject => ({
  ...bodyOf(definition, normaliseFields(definition, exampleOf(definition)), settings),
  ...{ [namingOf(definition).wire]: `custom.${id}`, id },
  ...{ created: unknownTime, modified: unknownTime },
});

/**
 * The content of an emulator that holds the same objects under the same ids. Secrets that the service
 * hides are there with another text; what no program can declare is only there to be looked up.
 */
export const accountCopy = (objects: readonly ObjectInputs[], settings: Vendor): JsonObject => ({
  version: 1,
  switches: { platformName: settings.platformName, unknownFields: "keep" },
  objects: Object.fromEntries(
    resources.map((definition) => [
      definition.collection,
      objects
        .filter((object) => object.definition === definition && isId(object.id))
        .map((object) => (object.problem ? standIn : copyOf)(object, settings)),
    ]),
  ),
});
