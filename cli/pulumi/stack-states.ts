import { dirname } from "node:path";
import { textAt } from "../../provider/kernel/json.js";
import {
  kindOfToken,
  ownerOf,
  ownerParts,
  ownershipsOf,
  parentsIn,
  projectFile,
  providerToken,
  tokenParts,
  urnParts,
} from "../../provider/kernel/pulumi.js";
import type {
  Holding,
  PendingCreation,
  StackState,
  StackStates,
} from "../../provider/lifecycle/stack-states.js";
import { isListedAs, mayBe, type PulumiPlace, queryPulumi, stacksIn } from "./pulumi-queries.js";
import type { PendingOperation, StackExport, StateResource } from "./stack-documents.js";

const kindOf = ({ type }: StateResource): string | undefined => kindOfToken(type);

/** The ownership that a provider of the plugin has made. */
const madeBy = (resource: StateResource): string | undefined =>
  resource.type === providerToken ? textAt(resource.inputs, "ownership") : undefined;

/**
 * Returns a function that tells whose the object of a resource is: a resource of the plugin keeps
 * what it was created with.
 *
 * @param ownership of the stack itself
 */
const ownershipFinder = (resources: readonly StateResource[], ownership: string | undefined) => {
  const providers = new Map<string, string>(
    resources.flatMap((resource) => {
      const made = madeBy(resource);
      return made && resource.id ? [[`${resource.urn}::${resource.id}`, made] as const] : [];
    }),
  );
  return ({ provider = "", inputs }: StateResource): string | undefined => {
    const made = providers.get(provider);
    const written = textAt(inputs, "owner");
    return made && written ? ownerParts(written).ownership : (made ?? ownership);
  };
};

const holdingOf = (
  resource: StateResource,
  place: Pick<Holding, "stack" | "own">,
  ownership: string | undefined,
): readonly Holding[] => {
  const { urn, id } = resource;
  const kind = kindOf(resource);
  if (!kind || kind === "Ownership" || !id) return [];
  const written = textAt(resource.outputs, "owner") ?? textAt(resource.inputs, "owner");
  // From the URN: after `pulumi state rename` its inputs still contain the earlier owner.
  const owner = ownership ? ownerOf(ownership, parentsIn(urn), urnParts(urn).name) : written;
  const serial = textAt(resource.outputs, "serial");
  return [
    {
      ...place,
      urn,
      kind,
      id,
      ...(owner ? { owner } : {}),
      ...(written && written !== owner ? { writtenOwner: written } : {}),
      ...(serial ? { serial } : {}),
      ...(tokenParts(resource.type)?.door === "plugin" ? { isPlugins: true as const } : {}),
      ...(resource.delete ? { leaving: true as const } : {}),
      ...(textAt(resource.inputs, "imported") ? { isUnsettled: true as const } : {}),
    },
  ];
};

/** Returns the operations that a run started and did not complete. */
export const pendingOperations = ({ deployment }: StackExport): readonly PendingOperation[] =>
  deployment.pending_operations ?? [];

/** Returns the resources in a state, followed by those of the pending operations. */
export const resourcesWithPending = (state: StackExport): readonly StateResource[] => [
  ...(state.deployment.resources ?? []),
  ...pendingOperations(state).map(({ resource }) => resource),
];

const pendingOf = ({ type, resource }: PendingOperation): readonly PendingCreation[] => {
  const kind = kindOf(resource);
  if (type !== "creating" || !kind) return [];
  const owner = textAt(resource.inputs, "owner");
  return [{ urn: resource.urn, kind, ...(owner ? { owner } : {}) }];
};

/** `urn:pulumi:<stack>::<project>::…`; the same in every URN of a state. */
const namesIn = ([first]: readonly StateResource[]): Pick<StackState, "name" | "project"> => {
  const [, name, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(first?.urn ?? "") ?? [];
  return name && project ? { name, project } : {};
};

/**
 * Reads a state. A resource that will be deleted still has its object, and is listed after those
 * that remain.
 *
 * @param stack the stack's name in the CLI. Default: its short name
 */
export const stackStateOf = (document: StackExport, own: boolean, stack?: string): StackState => {
  const resources = document.deployment.resources ?? [];
  const staying = resources.filter((resource) => !resource.delete);
  const leaving = resources.filter((resource) => resource.delete);
  const all = resourcesWithPending(document);
  const names = namesIn(all);
  const shown = stack ?? names.name ?? "";
  const ownershipsIn = (list: readonly StateResource[]) =>
    list.flatMap((resource) => (kindOf(resource) === "Ownership" && resource.id) || []);
  const [ownership] = ownershipsIn(staying);
  const replacedOwnerships = ownershipsIn(leaving);
  const pluginOwnerships = [
    ...new Set([
      ...resources.flatMap((resource) => madeBy(resource) ?? []),
      // What was begun under the earlier name of a renamed stack keeps its owner.
      ...all.flatMap(({ provider = "", inputs }) => {
        const owner = provider.includes(`::${providerToken}::`) && textAt(inputs, "owner");
        return owner ? [ownerParts(owner).ownership] : [];
      }),
    ]),
  ];
  const findOwnership = ownershipFinder(resources, ownership);
  const holdings = (external: boolean) =>
    [...staying, ...leaving]
      .filter((resource) => (resource.external === true) === external)
      .flatMap((resource) => holdingOf(resource, { stack: shown, own }, findOwnership(resource)));
  return {
    ...names,
    ...(ownership ? { ownership } : {}),
    ...(pluginOwnerships.length > 0 ? { pluginOwnerships } : {}),
    ...(replacedOwnerships.length > 0 ? { replacedOwnerships } : {}),
    holdings: holdings(false),
    lookUps: holdings(true),
    pending: pendingOperations(document).flatMap(pendingOf),
  };
};

const mostStacks = 50;

const together = 4;

/**
 * A resource that moved to the plugin keeps its ownership; in a forced replacement the engine gives
 * it that of its provider.
 */
const movedResource = (
  own: StackState,
  holdings: readonly Holding[],
  owner: string,
): Holding | undefined => {
  const { ownership, name } = ownerParts(owner);
  const ownerships = ownershipsOf(own);
  if (!own.pluginOwnerships?.includes(ownership)) return undefined;
  return holdings.find((holding) => {
    const parts = ownerParts(holding.owner ?? "");
    return parts.name === name && ownerships.includes(parts.ownership);
  });
};

/** Combines the requested stack's state with those of other stacks. */
export const statesOf = (
  own: StackState,
  others: readonly StackState[],
  complete: boolean,
): StackStates => {
  const all = [own, ...others];
  const holdings = all.flatMap((state) => state.holdings);
  const lookUps = all.flatMap((state) => state.lookUps);
  const keyOf = ({ kind, id }: Holding): string => `${kind} ${id}`;
  const [holders, readers] = [Map.groupBy(holdings, keyOf), Map.groupBy(lookUps, keyOf)];
  return {
    own,
    holdings,
    holdersOf: (kind, id) => holders.get(`${kind} ${id}`) ?? [],
    readersOf: (kind, id) => readers.get(`${kind} ${id}`) ?? [],
    resourceOf: (kind, owner, isPlugins) => {
      const alike = own.holdings.filter(
        (holding) => holding.kind === kind && (holding.isPlugins ?? false) === isPlugins,
      );
      return alike.find((holding) => holding.owner === owner) ?? movedResource(own, alike, owner);
    },
    pending: own.pending,
    ownerships: all.flatMap(ownershipsOf),
    complete,
  };
};

/**
 * Exports the state of a stack, or says why it cannot be read, in a sentence without a period.
 *
 * @param secrets `clear` for plain values; default: encrypted
 */
export const exportState = async (
  place: PulumiPlace,
  secrets?: "clear",
): Promise<{ readonly document: StackExport } | { readonly reason: string }> => {
  const options = secrets === "clear" ? ["--show-secrets"] : [];
  // A provider's process loads what reads the state while Pulumi writes it.
  const [answer, { stackExportIn }] = await Promise.all([
    queryPulumi(place, ["stack", "export", ...options]),
    import("./stack-documents.js"),
  ]);
  if ("reason" in answer) return answer;
  const document = stackExportIn(answer.text);
  return document ? { document } : { reason: "pulumi stack export printed no stack state" };
};

/** A stack of the backend, as far as it can be read. */
export interface OtherStackExport {
  readonly state: StackState;
  readonly document: StackExport;
}

const otherFrom = async (
  place: PulumiPlace,
  secrets: "clear" | undefined,
): Promise<OtherStackExport | undefined> => {
  const read = await exportState(place, secrets);
  if ("reason" in read) return undefined;
  const { document } = read;
  return { document, state: stackStateOf(document, false, place.stack) };
};

/**
 * Exports all stacks except the requested one, as far as they can be read.
 *
 * @param secrets `clear` for plain values: then those that the environment cannot decrypt are unread
 */
export const exportOtherStacks = async (
  { stack: asked, ...anyStack }: PulumiPlace,
  own: StackState,
  secrets?: "clear",
): Promise<{ readonly stacks: readonly OtherStackExport[]; readonly complete: boolean }> => {
  const answer = await queryPulumi(anyStack, ["stack", "ls", "--all", "--json"]);
  const listed = "text" in answer ? stacksIn(answer.text) : undefined;
  if (!listed) return { stacks: [], complete: false };
  const others = listed.filter((each) => !isListedAs(each, asked));
  const isOwn = (name: string, state: StackState) =>
    others.length === listed.length &&
    mayBe(name, asked ?? "") &&
    (["ownership", "name", "project"] as const).every((key) => state[key] === own[key]);
  const read: (OtherStackExport | undefined)[] = [];
  for (let start = 0; start < Math.min(others.length, mostStacks); start += together) {
    const some = others.slice(start, Math.min(start + together, mostStacks));
    const places = some.map(({ name }) => ({ ...anyStack, stack: name }));
    read.push(...(await Promise.all(places.map((place) => otherFrom(place, secrets)))));
  }
  return {
    stacks: read.flatMap((other, at) =>
      other && !isOwn(others[at]?.name ?? "", other.state) ? [other] : [],
    ),
    complete: read.length === others.length && !read.includes(undefined),
  };
};

/** Which states to read: only the stack's own, or those of all stacks. */
export type StateScope = "own" | "all";

/**
 * Reads what surrounds a stack: nothing, or the states of all stacks of the backend (at most 50
 * besides this one).
 *
 * @param document its own state
 */
export const statesAround = async (
  document: StackExport,
  place: PulumiPlace,
  scope: StateScope,
): Promise<StackStates> => {
  const own = stackStateOf(document, true, place.stack);
  if (scope === "own") return statesOf(own, [], false);
  const { stacks, complete } = await exportOtherStacks(place, own);
  const states = stacks.map(({ state }) => state);
  return statesOf(own, states, complete);
};

/**
 * Returns the Pulumi CLI for a process that Pulumi started: the one on PATH, with the environment of
 * this process, in the project's folder. The program itself may be in a folder below (`main`).
 */
export const pulumiOfThisRun = (): PulumiPlace => {
  const file = projectFile(process.cwd());
  // Pulumi has already changed to the folder given by --cwd.
  const { PULUMI_OPTION_CWD: _, ...env } = process.env;
  return { command: "pulumi", folder: file ? dirname(file) : process.cwd(), env };
};

/** Returns whether a provider's process can run the CLI and reach the backend with it. */
export const canReadStates = async (): Promise<boolean> =>
  "text" in (await queryPulumi(pulumiOfThisRun(), ["stack", "ls", "--json"]));

/** The full names of listed stacks in all organizations, by project and short name. */
const listedNames = async (
  place: PulumiPlace,
  project: string,
  stack: string,
): Promise<readonly string[]> => {
  const answer = await queryPulumi(place, ["stack", "ls", "--all", "--json"]);
  const listed = "text" in answer ? (stacksIn(answer.text) ?? []) : [];
  return listed.map(({ name }) => name).filter((name) => name.endsWith(`/${project}/${stack}`));
};

/**
 * Reads the states that a provider's process can see while the engine runs, with the CLI on PATH.
 * Returns undefined if the process cannot reliably read the state of this owner's stack.
 *
 * @param scope `own`: that stack only; `all`: all stacks in the backend
 */
export const statesOfThisRun = async (
  owner: string,
  scope: StateScope = "all",
  place: PulumiPlace = pulumiOfThisRun(),
): Promise<StackStates | undefined> => {
  const { ownership, project, stack } = ownerParts(owner);
  // The selected stack may have been renamed since.
  const selected = place.env.PULUMI_OPTION_STACK;
  const names = [async () => [stack, selected], () => listedNames(place, project, stack)];
  for (const some of names)
    for (const name of await some()) {
      const at = { ...place, ...(name ? { stack: name } : {}) };
      const read = await exportState(at);
      if ("reason" in read) continue;
      const own = stackStateOf(read.document, true, at.stack);
      // A name may stand for a stack of another organization: the Ownership in its state decides.
      // The provider of a stack's first `pulumi import` has made no ownership yet.
      const made = [...ownershipsOf(own), ...(own.replacedOwnerships ?? [])];
      if ([...made, `${own.project}/${own.name}/`].includes(ownership))
        return statesAround(read.document, at, scope);
    }
  return undefined;
};
