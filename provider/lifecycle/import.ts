import { typedFields } from "../definition/changes.js";
import { normaliseFields } from "../definition/fields.js";
import { tidyFields, withoutSecrets } from "../definition/importable.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError } from "../kernel/errors.js";
import { assertId } from "../kernel/object-id.js";
import { ownCommand } from "../kernel/package.js";
import type { WireObject } from "../service/lists.js";
import { isSameResource } from "./ownership/mark.js";
import type { Properties } from "./properties.js";
import { descriptionOf, type ReadResult } from "./read.js";
import { connected, type Declared, type Resource } from "./run.js";
import { describe, originalMark } from "./seen.js";
import { liveRecord, stateInputs, stateOutputs } from "./state.js";

/**
 * Reads an object by its ID for an import, and returns it as a program would declare it, without
 * empty members. Every secret is undisclosed, because Pulumi writes the inputs into code. The next
 * update adds the mark.
 *
 * @throws ConversationError `NOT_FOUND`; `OWNED_ELSEWHERE` if it carries another stack's mark, or a
 * state holds it
 */
export const importObject = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition } = resource;
  assertId(id, definition.noun);
  const declared = await connected(resource);
  const live = await declared.service.read(definition, id);
  if (!live)
    throw new ConversationError(
      "NOT_FOUND",
      `there is no ${definition.noun} with this ID. Correct the ID, or check that the settings are for the right tenant.`,
    );
  await assertFreeToImport(declared, id, live);
  const now = importedProperties(declared, live);
  return {
    id,
    props: stateOutputs(definition, now),
    inputs: stateInputs(definition, now),
  };
};

const importedProperties = (declared: Declared, live: WireObject): Properties => {
  const { definition, settings, properties, ownMark } = declared;
  const description = descriptionOf(declared, live);
  const wire = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const typed = tidyFields(definition.fields, typedFields(definition.fields, wire));
  const fields = withoutSecrets(
    definition.fields,
    normaliseFields(definition, typed, () => false),
  );
  const mark = originalMark(definition, live);
  const isOurs = mark !== undefined && ownMark !== undefined && isSameResource(mark, ownMark);
  const { owner } = properties;
  const record = liveRecord(live, isOurs && mark.serial ? { serial: mark.serial } : {});
  return { fields, ...(isOurs && owner ? { owner } : {}), record };
};

/** Two stacks that hold one object would undo each other's changes. */
const assertFreeToImport = async (
  { definition, run, identity, properties, ownMark }: Declared,
  id: string,
  live: WireObject,
): Promise<void> => {
  const mark = originalMark(definition, live);
  const refused = (reason: string): ConversationError =>
    new ConversationError(
      "OWNED_ELSEWHERE",
      `the ${describe(definition, { ...live, id })} cannot be imported: ${reason}`,
    );
  if (mark && mark.stack !== ownMark?.stack)
    throw refused(
      `it carries the mark of another stack or state, ${mark.label}. If that stack no longer contains the object, release it: ${ownCommand(`orphans --release --id ${id}`)}`,
    );
  const other = identity && run.decisions.take(`adopt ${definition.kind} ${id}`, identity);
  if (other) throw refused(`this run also imports it as ${other.label}`);
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const [holder] = states?.holdersOf(definition.kind, id) ?? [];
  if (holder) throw refused(`the state of the stack ${holder.stack} contains it: ${holder.urn}`);
};
