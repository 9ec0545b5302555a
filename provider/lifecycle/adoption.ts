import { changesOf, changeText } from "../definition/changes.js";
import { displaced, fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertId } from "../kernel/object-id.js";
import { ownCommand, withAdvice } from "../kernel/package.js";
import { unknownValue } from "../kernel/pulumi.js";
import { engineCall } from "./engine-call.js";
import {
  isThisResource,
  type KnownObjects,
  originalMark,
  readMark,
  readWholeObject,
  seeObject,
  seeObjects,
} from "./ownership.js";
import { assertNothingErased, type PutPlan, planPut } from "./put.js";
import { describeObject, type Found, ownedElsewhere } from "./refusals.js";
import {
  connected,
  type Declared,
  type KindInRun,
  labelOf,
  type Resource,
  shownName,
} from "./resource.js";
import type { ObjectHolders, ResourceIdentity } from "./run.js";

/**
 * Returns the object that `adopt` identifies by ID or by name.
 *
 * @throws ConversationError `NOT_FOUND` if there is none, `AMBIGUOUS` if there are several,
 * `OWNED_ELSEWHERE` if it belongs to another resource
 */
export const findAdoptee = async (
  declared: Declared,
  known: Pick<KnownObjects, "objects" | "refusal">,
): Promise<Found> => {
  const { adopt, owner } = declared.properties;
  const id = typeof adopt === "string" ? adopt : findIdByName(declared, known);
  const found = await readById(declared, id);
  // An object without a mark, or one that somebody has renamed, may still belong to another stack.
  const states = owner ? await declared.run.states?.(owner, "all") : undefined;
  assertAdoptable(declared, found, states);
  return found;
};

const findIdByName = (
  declared: Declared,
  { objects, refusal }: Pick<KnownObjects, "objects" | "refusal">,
): string => {
  const { definition, nameKey, name } = declared;
  if (refusal) throw refusal;
  const [found, ...others] = objects.filter(({ isNamed }) => isNamed);
  const shown = shownName(declared, name);
  const called = shown ? `${nameKey} ${shown}` : `same ${nameKey}`;
  if (!found) {
    throw new ConversationError(
      "NOT_FOUND",
      `there is no ${definition.noun} with the ${called} to adopt. Nothing was changed. Correct the ${nameKey}, use the object's ID (adopt: "<id>"), or remove adopt to create an object.`,
    );
  }
  assertId(found.id, definition.noun);
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id }) => id).join(", ");
  throw new ConversationError(
    "AMBIGUOUS",
    `${others.length + 1} ${definition.noun}s have the ${called}: ${ids}. Nothing was changed. Choose the object to adopt by its ID, for example adopt: "${found.id}".`,
  );
};

const readById = async (declared: Declared, id: string): Promise<Found> => {
  const found = await readWholeObject(declared, id);
  if (found) return found;
  throw new ConversationError(
    "NOT_FOUND",
    `there is no ${declared.definition.noun} with the ID ${id} to adopt. Nothing was changed. Correct the ID, or remove adopt to create an object.`,
  );
};

/** Reserves an object to adopt; returns the other resource that reserved it before, if any. */
const claimObject = (
  { definition: { kind }, identity, run: { decisions } }: Resource,
  id: string,
): ResourceIdentity | undefined => {
  const what = `adopt ${kind} ${id}`;
  const first = decisions.claims.get(what) ?? identity;
  if (first) decisions.claims.set(what, first);
  return first?.place === identity?.place ? undefined : first;
};

/** Refuses an object that stands for another resource, of this program or of a state. */
const assertAdoptable = (
  declared: Declared,
  found: Found,
  states: ObjectHolders | undefined,
): void => {
  const { definition, identity, run } = declared;
  const other = claimObject(declared, found.id) ?? run.decisions.holders.get(found.id);
  if (other && other.key !== identity?.key) {
    throw new ConversationError(
      "OWNED_ELSEWHERE",
      `the ${describeObject(declared, found)} belongs to another resource in this program: ${labelOf(other)}. Nothing was changed. Only one resource can adopt an object: remove adopt from one of them.`,
    );
  }
  const holders = states?.holdersOf(definition.kind, found.id) ?? [];
  const holder = holders.find((each) => !isThisResource(declared, each));
  if (holder) throw ownedElsewhere(declared, found, holder);
  const mark = originalMark(definition, found);
  // A leftover or a copy of this very stack that no state holds belongs to nobody else.
  const isFree = mark !== undefined && mark.stack === declared.mark?.stack && states !== undefined;
  if (mark && !isFree && !seeObject(declared, found.id, found).isOriginal)
    throw ownedElsewhere(declared, found, mark);
};

/**
 * Reads the object to adopt and shows what will change. This is the only check that makes calls,
 * and it does so only if the resource is not in the state. It never writes.
 *
 * @param isNamed whether the program sets the name; otherwise the object keeps its own
 * @returns the resource as it will be, or the reason why it cannot be adopted
 */
export const previewAdoption = async (
  resource: Resource,
  isNamed: boolean,
): Promise<{ readonly resource?: Resource; readonly reason?: string }> => {
  try {
    const declared = await connected(resource);
    const { definition, properties, settings, run, service } = declared;
    const isByName = properties.adopt === true;
    if (declared.name === unknownValue && isByName) return {};
    const listing = isByName ? await service.list(definition) : undefined;
    const objects = listing ? seeObjects(declared, listing.objects) : [];
    const found = await findAdoptee(declared, { objects });
    const { name } = fieldsFromWire(definition.fields, found, settings);
    const keepsName = !isNamed && name !== undefined;
    const kept = keepsName ? renameResource(declared, name) : declared;
    // Under a forced replacement the object already belongs to the resource.
    if (!seeObject(declared, found.id, found).isOriginal) {
      const plan = planPut(kept, found);
      assertNothingErased(kept, plan);
      run.notify?.(describeAdoption(kept, plan), "info");
    }
    return { resource: kept };
  } catch (error) {
    if (isConversationError(error)) return { reason: withAdvice(error) };
    throw error;
  }
};

/** The resource under a name other than the given one. */
const renameResource = (declared: Declared, name: unknown): Declared => {
  const { properties, nameKey } = declared;
  const fields: JsonObject = { ...properties.fields, name };
  return { ...declared, name: fields[nameKey], properties: { ...properties, fields } };
};

const listed = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n  ${title}\n${lines.map((line) => `    ${line}`).join("\n")}`;

/** Describes what an adoption will do, so that the user sees it before it happens. */
const describeAdoption = (declared: Declared, plan: PutPlan): string => {
  const { definition, properties, settings } = declared;
  const { live, fields, undeclared, hidden, isMarked } = plan;
  const { description } = readMark(live.description);
  const from = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const changes = changesOf(declared.known, from, properties.fields).map(changeText);
  // The program chose another member instead.
  const gone = [...displaced(definition, fields)].filter((name) => from[name] !== undefined);
  const head = `adopts the ${describeObject(declared, live)}`;
  const mark = isMarked ? ", but the owner mark is added" : "";
  const change = changes.length + gone.length === 0 ? `; no field changes${mark}` : "";
  return (
    head +
    change +
    listed("changes:", changes) +
    listed("erased, because the program sets another member instead:", gone) +
    listed("unchanged, because not declared in the program:", undeclared) +
    listed("erased, because eraseHidden allows it:", hidden)
  );
};

/** What the plugin calls before a resource with this owner imports an object. */
export const onImport =
  (of: KindInRun) =>
  (id: string, owner?: string): Promise<string | undefined> =>
    engineCall({ of, doing: "importing", id, inputs: owner ? { owner } : {} }, (resource) =>
      importRefusal(resource, id),
    );

/**
 * Returns why a resource may not take over an object; otherwise, undefined. Two stacks that hold one
 * object would undo each other's changes.
 */
const importRefusal = async (resource: Resource, id: string): Promise<string | undefined> => {
  const { definition, run, properties } = resource;
  const { service, ownMark } = await connected(resource);
  const live = (await service.read(definition, id)) ?? {};
  const states = properties.owner ? await run.states?.(properties.owner, "all") : undefined;
  const holders = states?.holdersOf(definition.kind, id) ?? [];
  const holder = holders.find((held) => !isThisResource(resource, held));
  const mark = originalMark(definition, live);
  const refused = (reason: string): string =>
    `the ${describeObject(resource, { ...live, id })} cannot be imported: ${reason}`;
  const other = claimObject(resource, id);
  if (other) return refused(`this run also imports it as ${labelOf(other)}`);
  if (holder) return refused(`the state of the stack ${holder.stack} contains it: ${holder.urn}`);
  if (mark && mark.stack !== ownMark?.stack)
    return refused(
      `it carries the mark of another stack or state, ${mark.label}. If that stack no longer contains the object, release it: ${ownCommand(`orphans --release --id ${id}`)}`,
    );
  return undefined;
};
