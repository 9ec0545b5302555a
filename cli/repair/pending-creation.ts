import type { Definition } from "../../provider/definition/define.js";
import { isSameResource, objectTime } from "../../provider/lifecycle/ownership/mark.js";
import { kindOfMarked, type MarkedObject } from "../../provider/lifecycle/ownership/orphans.js";
import { connected, type Declared, resourceIn } from "../../provider/lifecycle/resource.js";
import { isHeld } from "../../provider/lifecycle/run.js";
import { describe, seenObjects } from "../../provider/lifecycle/seen-object.js";
import { wireReferences } from "../account/read-account.js";
import {
  definitionOfType,
  logicalName,
  openedValues,
  type PendingOperation,
} from "../stack/stack-export.js";
import { type AccountRead, kindIn } from "../stack/stack-reading.js";
import { heldResource, markedIn, type RepairFacts } from "./repair-facts.js";

/** What became of a creation that a run began and did not report on. */
export type CreationOutcome =
  /** The state has the resource by now. */
  | { readonly outcome: "held" }
  /** Nothing at the service was made. */
  | { readonly outcome: "not-made" }
  /** It made this object; `surplus`: those that other attempts made. */
  | {
      readonly outcome: "made";
      readonly object: MarkedObject;
      readonly surplus: readonly MarkedObject[];
    }
  /** Nobody can tell; in a sentence, with the way out. */
  | { readonly outcome: "unclear"; readonly why: string };

const unclear = (why: string): CreationOutcome => ({ outcome: "unclear", why });

const isReferredTo = ({ reading }: AccountRead, { id, definition }: MarkedObject): boolean =>
  reading.kinds.some((kind) =>
    [...kind.objects.values()].some((wire) =>
      wireReferences(kind.definition, wire).some(
        (reference) => reference.id === id && reference.to.kind === definition.kind,
      ),
    ),
  );

/** The one that others refer to already, else the one that was made first. */
const firstOf = (account: AccountRead, objects: readonly MarkedObject[]) => {
  const createdOf = ({ definition, id }: MarkedObject): number =>
    objectTime(kindIn(account, definition).objects.get(id)?.created);
  const [object, ...surplus] = objects.toSorted(
    (a, b) =>
      Number(isReferredTo(account, b)) - Number(isReferredTo(account, a)) ||
      createdOf(a) - createdOf(b) ||
      a.id.localeCompare(b.id),
  );
  return { object, surplus };
};

/** Left-overs with the mark of a resource. */
const madeFor = (
  { definition, ownMark }: Declared,
  account: AccountRead,
  { states }: RepairFacts,
): readonly MarkedObject[] =>
  markedIn(account).filter(
    (object) =>
      ownMark !== undefined &&
      object.definition.kind === definition.kind &&
      isSameResource(object.mark, ownMark) &&
      !isHeld(states, definition.kind, object.id) &&
      kindOfMarked(object, states) === "left-over",
  );

/** Where an object could not carry a mark, only its name speaks for it, and that is not enough. */
const unmarkedOutcome = (
  declared: Declared,
  account: AccountRead,
  { states }: RepairFacts,
  urn: string,
): CreationOutcome => {
  const { definition } = declared;
  const named = seenObjects(declared, kindIn(account, definition).objects).find(
    ({ id, isNamed, mark }) => isNamed && !mark && !isHeld(states, definition.kind, id),
  );
  if (declared.isMarked || !named) return { outcome: "not-made" };
  const shown = describe(definition, { ...named.wire, id: named.id });
  return unclear(
    `${definition.kind} ${logicalName(urn)}: its object could not carry a mark. The ${shown} has its name and may be it. ` +
      `If it is, set adopt: "${named.id}" in the program and run pulumi up, then repair again; if not, give the resource another name.`,
  );
};

const outcomeAmong = (
  found: readonly MarkedObject[],
  account: AccountRead,
  urn: string,
): CreationOutcome => {
  const serials = found.map(({ mark }) => mark.serial);
  const isTold = serials.every(
    (serial, place) => serial !== undefined && serials.indexOf(serial) === place,
  );
  const { object, surplus } = firstOf(account, found);
  if (object && (surplus.length === 0 || isTold)) return { outcome: "made", object, surplus };
  const ids = found.map(({ id }) => id).join(", ");
  return unclear(
    `${logicalName(urn)}: one of these objects is a copy that a person made of the other, and nothing tells which: ${ids}. ` +
      "Take the mark off the copy (pulumi-conversation orphans --release --id <id>), then repair again.",
  );
};

const ofKind = async (
  definition: Definition,
  { resource: { urn, inputs } }: PendingOperation,
  facts: RepairFacts,
): Promise<CreationOutcome> => {
  const context = { definition, run: facts.run };
  const declared = await connected(resourceIn(context, openedValues(inputs)));
  const account = facts.accountOf(declared.properties.profile);
  const { problem } = kindIn(account, definition);
  if (problem !== undefined)
    return unclear(
      `${definition.kind} ${logicalName(urn)}: its kind could not be read: ${problem}`,
    );
  const found = madeFor(declared, account, facts);
  if (found.length > 0) return outcomeAmong(found, account, urn);
  return unmarkedOutcome(declared, account, facts, urn);
};

/** Finds out what became of a creation: by the state, then by the mark of its resource at the service. */
export const creationOutcome = async (
  operation: PendingOperation,
  facts: RepairFacts,
): Promise<CreationOutcome> => {
  const { urn, type } = operation.resource;
  if (heldResource(facts.document, urn)) return { outcome: "held" };
  const definition = definitionOfType(type);
  return definition ? ofKind(definition, operation, facts) : { outcome: "not-made" };
};
