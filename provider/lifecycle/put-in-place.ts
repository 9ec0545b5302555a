import { fieldsFromWire } from "../definition/wire/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { objectOf } from "../kernel/json.js";
import { isUnclear } from "../service/objects/answered-objects.js";
import { wholeObject } from "./adoption/known-objects.js";
import { type Declared, holdsFields } from "./declared.js";
import { describe } from "./ownership/seen-object.js";
import type { PutPlan } from "./put-plan.js";
import type { ObjectRecord } from "./state/properties.js";

/** Refuses what would erase hidden members that the program neither declares nor gives up. */
export const assertNothingErased = ({ definition, properties }: Declared, plan: PutPlan): void => {
  const { hidden, live } = plan;
  if (hidden.length === 0 || properties.eraseHidden) return;
  const [one] = hidden;
  const [members, them, they] =
    hidden.length === 1 ? ["a member", "it", "it"] : ["members", "them", "they"];
  throw new ConversationError(
    "HIDDEN_MEMBER",
    `the ${describe(definition, live)} has ${members} that the program does not declare ` +
      `and that the service does not show: ${hidden.join(", ")}. A PUT would erase ${them}. Nothing was changed. ` +
      `Declare ${hidden.length === 1 ? one : "them"} with the value, or set eraseHidden: true if ${they} may go` +
      ", or set conversation:put to keep if this tenant's PUT keeps what it does not name.",
  );
};

/** Writes the object in one PUT; what is known of it then. */
export const putInPlace = async (declared: Declared, plan: PutPlan): Promise<ObjectRecord> => {
  const { definition, run } = declared;
  const { live, serial, isMarked, undeclared, staying } = plan;
  assertNothingErased(declared, plan);
  const modified = await replaced(declared, plan);
  if (staying.length > 0) {
    run.tell?.(
      `the ${describe(definition, live)} still has ${staying.join(", ")}, which the program declares no more: ` +
        "this tenant's PUT keeps what it does not name (conversation:put). Remove it at the service by hand.",
      "warning",
    );
  }
  return objectOf([
    ["serial", isMarked ? serial : undefined],
    ["created", typeof live.created === "string" ? live.created : undefined],
    ["modified", modified],
    ["undeclared", undeclared.length > 0 ? undeclared : undefined],
  ]) as ObjectRecord;
};

/**
 * Sends the PUT; when the object was changed. Where the answer is none of the service's, what the
 * object holds now tells whether it was written.
 */
const replaced = async (
  declared: Declared,
  { live, body }: PutPlan,
): Promise<string | undefined> => {
  const { definition, service, settings } = declared;
  try {
    return (await service.replace(definition, live.id, body)).modified;
  } catch (error) {
    if (!isUnclear(error)) throw error;
    const now = await wholeObject(declared, live.id);
    const sent = fieldsFromWire(definition.fields, body, settings);
    if (!now || !holdsFields(declared, now, sent)) throw error;
    return typeof now.modified === "string" ? now.modified : undefined;
  }
};
