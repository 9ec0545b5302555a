import { tidyFields, typedFields } from "../definition/changes.js";
import { normaliseFields } from "../definition/fields.js";
import { withoutSecrets } from "../definition/secrets.js";
import { fieldsFromWire } from "../definition/wire.js";
import { isId } from "../kernel/object-id.js";
import { ownCommand } from "../kernel/package.js";
import type { WireObject } from "../service/lists.js";
import { isSameResource } from "./ownership/mark.js";
import type { Properties } from "./properties.js";
import { descriptionOf, type ReadResult } from "./read.js";
import { connected, type Declared, isThisResource, type Resource } from "./run.js";
import { describe, originalMark } from "./seen.js";
import { liveRecord, stateInputs, stateOutputs } from "./state.js";

/**
 * Reads an object by its ID, and returns it as a program would declare it, without empty members.
 * Every secret is undisclosed, because Pulumi writes the inputs of an import into code. Whose the
 * object is, only a check says: the next update adds the mark.
 */
export const lookUpObject = async (resource: Resource, id: string): Promise<ReadResult> => {
  const { definition } = resource;
  const declared = await connected(resource);
  const live = isId(id) ? await declared.service.read(definition, id) : undefined;
  if (!live) return { id: "", props: {} };
  const now = importedProperties(declared, live);
  return {
    id,
    props: stateOutputs(definition, now),
    inputs: stateInputs(definition, now),
  };
};

const importedProperties = (declared: Declared, live: WireObject): Properties => {
  const { definition, settings, ownMark } = declared;
  const description = descriptionOf(declared, live);
  const wire = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const typed = tidyFields(definition.fields, typedFields(definition.fields, wire));
  const fields = withoutSecrets(
    definition.fields,
    normaliseFields(definition, typed, () => false),
  );
  const mark = originalMark(definition, live);
  const isOurs = mark !== undefined && ownMark !== undefined && isSameResource(mark, ownMark);
  const record = liveRecord(live, isOurs && mark.serial ? { serial: mark.serial } : {});
  return { fields, record };
};

/**
 * Returns why a resource may not take over an object; otherwise, undefined. Two stacks that hold one
 * object would undo each other's changes.
 */
export const importRefusal = async (
  resource: Resource,
  id: string,
): Promise<string | undefined> => {
  const { definition, run, identity, properties, ownMark } = resource;
  const { service } = await connected(resource);
  const live = (await service.read(definition, id)) ?? {};
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const holders = states?.holdersOf(definition.kind, id) ?? [];
  const holder = holders.find((held) => !isThisResource(resource, held));
  const mark = originalMark(definition, live);
  const refused = (reason: string): string =>
    `the ${describe(definition, { ...live, id })} cannot be imported: ${reason}`;
  const other = identity && run.decisions.take(`adopt ${definition.kind} ${id}`, identity);
  if (other) return refused(`this run also imports it as ${other.label}`);
  if (holder) return refused(`the state of the stack ${holder.stack} contains it: ${holder.urn}`);
  if (mark && mark.stack !== ownMark?.stack)
    return refused(
      `it carries the mark of another stack or state, ${mark.label}. If that stack no longer contains the object, release it: ${ownCommand(`orphans --release --id ${id}`)}`,
    );
  return undefined;
};
