import { textAt } from "../kernel/json.js";
import { typeToken } from "../pointer.js";
import { ownerParts } from "./owner.js";
import {
  isListedAs,
  mayBe,
  type PulumiPlace,
  pulumiOfThisRun,
  queryPulumi,
  type RunningPulumi,
  stacksIn,
} from "./pulumi-queries.js";
import {
  type PendingOperation,
  resourcesOf,
  type StackExport,
  type StateResource,
  stackExportIn,
} from "./stack-documents.js";

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
interface PendingCreation {
  readonly urn: string;
  readonly kind: string;
  readonly owner?: string;
}

/** What the state of one stack says of the service. */
export interface StackState {
  /** Short name; undefined if the state is empty. */
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

/** What the states of the stacks that can be seen hold of the service. */
export interface StackStates {
  /** The stack asked about; `ownership` is undefined if it has made nothing, or was destroyed. */
  readonly own: Pick<StackState, "name" | "project" | "ownership">;
  /** Every resource that stands for an object; not those that only look one up. */
  readonly holdings: readonly Holding[];
  holdersOf(kind: string, id: string): readonly Holding[];
  /** Resources that look an object up (`get`). */
  readersOf(kind: string, id: string): readonly Holding[];
  /** The resource of the own stack with this owner, by its URN: as the program calls it now. */
  resourceOf(owner: string): Holding | undefined;
  /** Creations of the own stack that a run began and never reported on. */
  readonly pending: readonly PendingCreation[];
  /** Ids of the `Ownership` of all stacks that were read, the own one's too. */
  readonly ownerships: readonly string[];
  /** Whether all stacks of the backend could be read. */
  readonly complete: boolean;
}

/** Called with why states cannot be read, in a sentence without a dot. */
type OnUnread = (reason: string) => void;

const tokenStart = typeToken("");

const kindOf = ({ type }: StateResource): string | undefined =>
  type.startsWith(tokenStart) ? type.slice(tokenStart.length) : undefined;

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

const holdingOf = (
  resource: StateResource,
  { stack, own, ownership }: Place,
): readonly Holding[] => {
  const { urn, id, type } = resource;
  const kind = kindOf(resource);
  if (!kind || kind === "Ownership" || !id) return [];
  const written = textAt(resource.outputs, "owner") ?? textAt(resource.inputs, "owner");
  const owner = ownerOf(urn, type, ownership) ?? written;
  const serial = textAt(resource.outputs, "serial");
  return [
    {
      ...{ stack, urn, kind, id, own },
      ...(owner ? { owner } : {}),
      ...(written && written !== owner ? { writtenOwner: written } : {}),
      ...(serial ? { serial } : {}),
      ...(resource.delete ? { leaving: true as const } : {}),
    },
  ];
};

const pendingOf = ({ type, resource }: PendingOperation): readonly PendingCreation[] => {
  const kind = kindOf(resource);
  if (type !== "creating" || !kind) return [];
  const owner = textAt(resource.inputs, "owner");
  return [{ urn: resource.urn, kind, ...(owner ? { owner } : {}) }];
};

/** `urn:pulumi:<stack>::<project>::…`; every URN of a state says the same. */
const namesIn = ([first]: readonly StateResource[]): Pick<StackState, "name" | "project"> => {
  const [, name, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(first?.urn ?? "") ?? [];
  return name && project ? { name, project } : {};
};

/**
 * What a state says of the service. A resource that is about to be deleted still holds its object, and
 * comes after those that stay.
 *
 * @param stack the stack as the CLI names it. Default: its short name
 */
export const stackStateOf = (document: StackExport, own: boolean, stack?: string): StackState => {
  const resources = resourcesOf(document);
  const pending = document.deployment.pending_operations ?? [];
  const staying = resources.filter((resource) => !resource.delete);
  const leaving = resources.filter((resource) => resource.delete);
  const names = namesIn([...resources, ...pending.map(({ resource }) => resource)]);
  const shown = stack ?? names.name ?? "";
  const ownershipsIn = (list: readonly StateResource[]) =>
    list.flatMap((resource) => (kindOf(resource) === "Ownership" && resource.id) || []);
  const [ownership] = ownershipsIn(staying);
  const replacedOwnerships = ownershipsIn(leaving);
  const holdings = (external: boolean) =>
    [...staying, ...leaving]
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

/** The same of what `pulumi stack export` printed; undefined if that is no state. */
export const stateIn = (text: string, own: boolean, stack?: string): StackState | undefined => {
  const document = stackExportIn(text);
  return document && stackStateOf(document, own, stack);
};

const mostStacks = 50;

const together = 4;

/** Puts together what several states say. */
export const statesOf = (
  own: StackState,
  others: readonly StackState[],
  complete: boolean,
): StackStates => {
  const all = [own, ...others];
  const holdings = all.flatMap((state) => state.holdings);
  const lookUps = all.flatMap((state) => state.lookUps);
  const of = (list: readonly Holding[], kind: string, id: string) =>
    list.filter((holding) => holding.kind === kind && holding.id === id);
  return {
    own,
    holdings,
    holdersOf: (kind, id) => of(holdings, kind, id),
    readersOf: (kind, id) => of(lookUps, kind, id),
    resourceOf: (owner) => own.holdings.find((holding) => holding.owner === owner),
    pending: own.pending,
    ownerships: all.flatMap(({ ownership }) => ownership ?? []),
    complete,
  };
};

const stateFrom = async (
  place: PulumiPlace,
  own: boolean,
  onUnread: OnUnread = () => undefined,
): Promise<StackState | undefined> => {
  const answer = await queryPulumi(place, ["stack", "export"]);
  if ("reason" in answer) {
    onUnread(answer.reason);
    return undefined;
  }
  const state = stateIn(answer.text, own, place.stack);
  if (!state) onUnread("pulumi stack export printed no state of a stack");
  return state;
};

const inGroups = async <T, R>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> => {
  const done: R[] = [];
  for (let start = 0; start < items.length; start += size)
    done.push(...(await Promise.all(items.slice(start, start + size).map(work))));
  return done;
};

/** All stacks but the one asked about, as far as they can be read. */
const othersFrom = async ({ stack: asked, ...anyStack }: PulumiPlace, own: StackState) => {
  const answer = await queryPulumi(anyStack, ["stack", "ls", "--all", "--json"]);
  const listed = "text" in answer ? stacksIn(answer.text) : undefined;
  if (!listed) return { states: [], complete: false };
  const others = listed.filter((each) => !isListedAs(each, asked));
  const read = await inGroups(others.slice(0, mostStacks), together, async ({ name }) => ({
    name,
    state: await stateFrom({ ...anyStack, stack: name }, false),
  }));
  const isOwn = (name: string, state: StackState) =>
    others.length === listed.length &&
    mayBe(name, asked ?? "") &&
    (["ownership", "name", "project"] as const).every((key) => state[key] === own[key]);
  return {
    states: read.flatMap(({ name, state }) => (state && !isOwn(name, state) ? [state] : [])),
    complete: read.length === others.length && read.every(({ state }) => state !== undefined),
  };
};

/** Which states are wanted. */
export type StateScope = "own" | "all";

const statesAround = async (own: StackState, place: PulumiPlace, scope: StateScope) => {
  if (scope === "own") return statesOf(own, [], false);
  const { states, complete } = await othersFrom(place, own);
  return statesOf(own, states, complete);
};

/**
 * The state of one stack, of which alone something is known then, or of all stacks of the backend, at most
 * 50. Undefined if that of the stack itself cannot be read.
 */
export const readStates = async (
  place: PulumiPlace,
  scope: StateScope,
  onUnread?: OnUnread,
): Promise<StackStates | undefined> => {
  const own = await stateFrom(place, true, onUnread);
  return own && statesAround(own, place, scope);
};

/**
 * What the states hold, as the process of a dynamic provider can see it while the engine runs: the
 * CLI that started it is asked in its own folder. Undefined if the state of the stack that this
 * owner belongs to cannot be seen for certain.
 *
 * @param scope `own`: that stack only; `all`: all stacks of the backend
 */
export const statesOfThisRun = async (
  owner: string,
  scope: StateScope = "all",
  findPulumi: () => RunningPulumi = pulumiOfThisRun,
): Promise<StackStates | undefined> => {
  const { ownership, stack } = ownerParts(owner);
  const { given, ...place } = findPulumi();
  // A name may stand for a stack of another organisation: the Ownership in its state decides.
  for (const name of new Set([given, stack, undefined])) {
    const at = { ...place, ...(name ? { stack: name } : {}) };
    const own = await stateFrom(at, true);
    const isIts =
      own?.ownership === ownership || own?.replacedOwnerships?.includes(ownership) === true;
    if (own && isIts) return statesAround(own, at, scope);
  }
  return undefined;
};
