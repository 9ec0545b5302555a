import { filledText, isObject, type JsonObject, listedObjects } from "../kernel/json.js";
import { typeToken } from "../pointer.js";
import { printedJson } from "./pulumi-queries.js";

/** A resource of ours in the state of a stack that stands for an object of the service. */
export interface Holding {
  /** The stack as the CLI names it: `prod`, or with organisation and project for other projects. */
  readonly stack: string;
  readonly urn: string;
  readonly kind: string;
  readonly id: string;
  /** What the mark of its object is made of: `<project>/<stack>/<random>/<logical name>`. */
  readonly owner?: string;
  /** The owner that was written last, where it is another one: of a resource renamed since. */
  readonly writtenOwner?: string;
  /** The part of its object's mark that is new with every POST; undefined for old marks. */
  readonly serial?: string;
  /** Whether it is of the stack asked about. */
  readonly own: boolean;
  /** Another resource has replaced it, and it is about to be deleted. */
  readonly leaving?: true;
}

/** A creation that a run began and never reported on. */
export interface PendingCreation {
  readonly urn: string;
  readonly kind: string;
  readonly owner?: string;
}

/** What the state of one stack says of the service. */
export interface StackState {
  /** Short name; undefined where the state is empty. */
  readonly name?: string;
  readonly project?: string;
  /** Id of the stack's `Ownership`. */
  readonly ownership?: string;
  /** Ids of those that were replaced in a run that is not at its end. */
  readonly replacedOwnerships?: readonly string[];
  readonly holdings: readonly Holding[];
  /** Resources that only look an object up (`get`). */
  readonly lookUps: readonly Holding[];
  readonly pending: readonly PendingCreation[];
}

const tokenStart = typeToken("");

const kindOf = ({ type }: JsonObject): string | undefined =>
  filledText(type)?.startsWith(tokenStart) ? String(type).slice(tokenStart.length) : undefined;

const member = (holder: unknown, name: string): string | undefined =>
  isObject(holder) ? filledText(holder[name]) : undefined;

/**
 * What the mark of a resource is made of now, from its URN: after `pulumi state rename` its inputs
 * still hold the owner of before. The same text as the resource's class makes of its parents and name.
 */
const ownerOf = (urn: string, token: string, ownership: string | undefined) => {
  const [, , qualified = "", ...name] = urn.split("::");
  const parents = qualified.slice(0, -token.length).replace("pulumi:pulumi:Stack$", "");
  return ownership && `${ownership}/${parents}${name.join("::")}`;
};

interface Place {
  readonly stack: string;
  readonly own: boolean;
  readonly ownership: string | undefined;
}

const holdingOf = (resource: JsonObject, { stack, own, ownership }: Place): readonly Holding[] => {
  const { urn, id, type } = resource;
  const kind = kindOf(resource);
  if (!kind || kind === "Ownership" || !filledText(urn) || !filledText(id)) return [];
  const written = member(resource.outputs, "owner") ?? member(resource.inputs, "owner");
  const owner = ownerOf(String(urn), String(type), ownership) ?? written;
  const serial = member(resource.outputs, "serial");
  return [
    {
      ...{ stack, urn: String(urn), kind, id: String(id), own },
      ...(owner ? { owner } : {}),
      ...(written && written !== owner ? { writtenOwner: written } : {}),
      ...(serial ? { serial } : {}),
      ...(resource.delete === true ? { leaving: true as const } : {}),
    },
  ];
};

const pendingOf = ({ type, resource }: JsonObject): readonly PendingCreation[] => {
  const kind = isObject(resource) ? kindOf(resource) : undefined;
  if (type !== "creating" || !isObject(resource) || !kind) return [];
  const owner = member(resource.inputs, "owner");
  return [{ urn: filledText(resource.urn) ?? "", kind, ...(owner ? { owner } : {}) }];
};

/** `urn:pulumi:<stack>::<project>::…`; every URN of a state says the same. */
const namesIn = (resources: readonly JsonObject[]): Pick<StackState, "name" | "project"> => {
  const [, name, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(String(resources[0]?.urn)) ?? [];
  return name && project ? { name, project } : {};
};

/**
 * Reads what `pulumi stack export` printed; undefined where that is no state. A resource that is
 * about to be deleted still holds its object, and comes after those that stay.
 *
 * @param stack the stack as the CLI names it. Default: its short name
 */
export const stateIn = (text: string, own: boolean, stack?: string): StackState | undefined => {
  const document = printedJson(text);
  const deployment = isObject(document) ? document.deployment : undefined;
  if (!isObject(deployment)) return undefined;
  const resources = listedObjects(deployment.resources);
  const pending = listedObjects(deployment.pending_operations);
  const staying = resources.filter((resource) => resource.delete !== true);
  const held = [...staying, ...resources.filter((resource) => resource.delete === true)];
  const names = namesIn([
    ...resources,
    ...pending.flatMap(({ resource }) => listedObjects([resource])),
  ]);
  const shown = stack ?? names.name ?? "";
  const ownership = filledText(staying.find((resource) => kindOf(resource) === "Ownership")?.id);
  const replacedOwnerships = resources
    .filter((resource) => resource.delete === true && kindOf(resource) === "Ownership")
    .flatMap(({ id }) => filledText(id) ?? []);
  const holdings = (external: boolean) =>
    held
      .filter((resource) => (resource.external === true) === external)
      .flatMap((resource) => holdingOf(resource, { stack: shown, own, ownership }));
  return {
    ...names,
    ...(ownership ? { ownership } : {}),
    ...(replacedOwnerships.length > 0 ? { replacedOwnerships } : {}),
    holdings: holdings(false),
    lookUps: holdings(true),
    pending: pending.flatMap(pendingOf),
  };
};
