import { mergeDeep } from "../../../provider/definition/wire/extra.js";
import { bodyOf } from "../../../provider/definition/wire/wire.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { resources } from "../../../provider/resources/index.js";
import type { Settings } from "../../../provider/service/settings/settings.js";
import type { ObjectInputs } from "../../account/object-inputs.js";

/** Where a service tells no time, any will do. */
const unknownTime = "2000-01-01T00:00:00.000Z";

/**
 * The content of an emulator that holds the same objects under the same ids. Secrets that the service
 * hides are there with another text; what no program can declare is left out.
 */
export const accountCopy = (
  objects: readonly ObjectInputs[],
  settings: Pick<Settings, "platformName">,
): JsonObject => ({
  version: 1,
  switches: { platformName: settings.platformName, unknownFields: "keep" },
  objects: Object.fromEntries(
    resources.map((definition) => [
      definition.collection,
      objects
        .filter((object) => object.definition === definition && object.problem === undefined)
        .map(({ id, fields, extra = {}, created = unknownTime, modified = unknownTime }) => ({
          ...mergeDeep(bodyOf(definition, fields, settings), extra),
          ...{ id, created, modified },
        })),
    ]),
  ),
});
