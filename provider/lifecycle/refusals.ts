import { withArticle } from "../definition/kinds.js";
import { ConversationError } from "../kernel/errors.js";
import { ownCommand } from "../kernel/package.js";
import type { WireObject } from "../service/lists.js";
import { type Declared, nameOfLabel, type Resource, shownName } from "./resource.js";
import type { Holding, Mark } from "./stack-states.js";

/** An object in the service, with its ID. */
export type Found = WireObject & { readonly id: string };

/** Returns an object's kind, name, and ID for messages, shortened if they are very long. */
export const describeObject = (resource: Resource, { id, ...wire }: Found): string => {
  const { definition, nameOnWire } = resource;
  const name = shownName(resource, wire[nameOnWire]);
  return [definition.noun, ...(name ? [name] : []), `(ID ${String(id).slice(0, 80)})`].join(" ");
};

// Why a resource does not get an object or a name, and what to do.

/** Returns the error for objects of which one is a copy, and nothing shows which. */
export const ambiguousMark = (
  resource: Resource,
  alike: readonly { readonly id: string; readonly wire: WireObject }[],
): ConversationError => {
  const objects = alike.map(({ id, wire }) => `the ${describeObject(resource, { ...wire, id })}`);
  return new ConversationError(
    "AMBIGUOUS",
    `${objects.join(" and ")} carry the same mark for this resource, because a person copied one, ` +
      `and it is unclear which is the copy. Nothing was changed. Choose one by its ID (adopt: "<id>"), or remove the mark from the copy: ${ownCommand("orphans --release --id <id>")}`,
  );
};

/** Returns the error for the name of an object that belongs to nobody. */
export const nameTaken = (declared: Declared, found: Found, isCopy: boolean): ConversationError =>
  new ConversationError(
    "NAME_TAKEN",
    `the ${describeObject(declared, found)} already exists and is not managed by Pulumi${isCopy ? ": it is a copy of a stack's object" : ""}. Nothing was changed. ` +
      (declared.isUnique
        ? ""
        : "It carries no mark, and a new one would not carry one either, so it is unknown whether an interrupted run created it. ") +
      `Adopt it with adopt: true or adopt: "${found.id}", or use another ${declared.nameKey}.`,
  );

/** Returns the error for a list without which it is unknown whether an object already exists. */
export const unreadableList = (
  { definition: { noun, collection } }: Declared,
  refusal: ConversationError | undefined,
): ConversationError => {
  const why = refusal?.message ?? `the service returns only part of the list of ${collection}.`;
  const way = refusal
    ? `Allow the client to list ${collection}. If the ${noun} exists, you can also adopt it`
    : `If the ${noun} exists, or once you have created it by hand, adopt it`;
  return new ConversationError(
    refusal?.code ?? "BAD_RESPONSE",
    `${why} Names of ${collection} need not be unique, so only the complete list shows whether an earlier attempt has already created the ${noun}. Nothing was created. ${way} by its ID (adopt: "<id>").`,
    refusal?.details,
    "none",
    { cause: refusal },
  );
};

/** Returns the error for a name that another resource in the same program already uses. */
export const takenByProgram = (
  { definition, nameKey }: Declared,
  { id }: Found,
  label: string,
): ConversationError =>
  new ConversationError(
    "NAME_TAKEN",
    `the ${nameKey} belongs to another resource in this program: ${label} (ID ${id}). ` +
      `The ${nameKey} of ${withArticle(definition.noun)} must be unique: change one of the two. To swap them, give one a temporary ${nameKey} first.`,
  );

/** Returns the error for an object that a mark or a state assigns to another owner. */
export const ownedElsewhere = (
  declared: Declared,
  found: Found,
  owner: Mark | Holding,
): ConversationError => {
  return new ConversationError(
    "OWNED_ELSEWHERE",
    `the ${describeObject(declared, found)} ${whose(owner)}. Nothing was changed. ${wayOut(declared, owner, found.id)}`,
  );
};

const whose = (owner: Mark | Holding): string => {
  if (!("urn" in owner)) return `belongs to another Pulumi resource or state: ${owner.label}`;
  return `belongs to ${owner.urn} in the state of ${owner.own ? "this stack" : `the stack ${owner.stack}`}`;
};

const wayOut = (declared: Declared, owner: Mark | Holding, id: string): string => {
  const { mark, nameKey } = declared;
  const isHolding = "urn" in owner;
  const isOwnStack = isHolding ? owner.own : owner.stack === mark?.stack;
  const alias = isHolding
    ? JSON.stringify(owner.urn)
    : `{ name: ${JSON.stringify(nameOfLabel(owner.label))} }`;
  // Removing it there would delete the object.
  const way = isOwnStack
    ? `. If this resource is that one, add the option aliases: [${alias}], and do not replace it in the same run.`
    : ", or hand the object over as the page below describes, so that the other stack does not delete it.";
  const gone = isHolding
    ? ""
    : ` If no state contains the object anymore, ${ownCommand(`orphans --release --id ${id}`)} removes the mark, so that you can adopt it.`;
  return `Use another ${nameKey}${way}${gone}`;
};
