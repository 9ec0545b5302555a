import type { ObjectHolders } from "../../provider/lifecycle/run.js";
import type { Holding } from "../../provider/pulumi-cli/stack-states.js";
import type { ModelState, StateEntry } from "./engine.js";
import { modelResources, type Name, names, type StateEdit } from "./scenario.js";

const withoutIt = (refers: readonly Name[], gone: Name): readonly Name[] =>
  refers.filter((name) => name !== gone);

/** An entry that a person can take hold of; the old half of a replacement stays where it is. */
const free = ({ entries }: ModelState, name: Name): StateEntry | undefined => {
  const entry = entries.get(name);
  return entry?.gone ? undefined : entry;
};

/** `pulumi state rename`, or the option `aliases`; what depends on the resource follows. */
export const renameIn = (state: ModelState, from: Name, to: Name): boolean => {
  const entry = free(state, from);
  if (!entry || state.entries.has(to)) return false;
  state.entries.delete(from);
  state.entries.set(to, { ...entry, name: to });
  for (const each of state.entries.values())
    each.refers = each.refers.map((name) => (name === from ? to : name));
  state.isEdited = true;
  return true;
};

const drop = (state: ModelState, name: Name): void => {
  state.entries.delete(name);
  for (const each of state.entries.values()) each.refers = withoutIt(each.refers, name);
  state.isEdited = true;
};

const siblingOf = (name: Name): Name | undefined =>
  names.find((other) => other !== name && modelResources[other].kind === modelResources[name].kind);

/** Does to the states what a person does with the Pulumi command line; tells whether it could be done. */
export const editStates = (
  states: readonly ModelState[],
  { type, stack, name }: StateEdit,
): boolean => {
  const [own, other] = [states[stack], states[1 - stack]];
  const entry = own && free(own, name);
  if (!own || !other || !entry) return false;
  if (type === "rename") {
    const to = siblingOf(name);
    return to !== undefined && renameIn(own, name, to);
  }
  const hasIt = ({ name: each }: StateEntry): boolean => each === name;
  if (type === "move" && (other.entries.has(name) || other.pending.some(hasIt))) return false;
  // What is deleted from the state is kept: not where a deletion of the same object is to come.
  if (type === "forget" && own.pending.some(({ id }) => id === entry.id)) return false;
  drop(own, name);
  if (type === "move") {
    // Every entry of that URN goes, the old halves of replacements among them (seen with 3.259.0).
    other.pending.push(...own.pending.filter(hasIt));
    own.pending.splice(0, own.pending.length, ...own.pending.filter((each) => !hasIt(each)));
    other.entries.set(name, { ...entry, refers: [] });
    other.isEdited = true;
  }
  return true;
};

const holdingsOf = ({ ownership, entries, pending }: ModelState, stack: string, own: boolean) =>
  [...entries.values(), ...pending].map((entry): Holding => {
    const { name, kind, id, outputs } = entry;
    const owner = `${ownership}/${name}`;
    const { owner: writtenOwner = owner } = outputs;
    return {
      ...{ stack, own, kind, id, owner },
      urn: `urn:pulumi:prod::shop::conversation:${kind}::${name}`,
      ...(typeof writtenOwner === "string" && writtenOwner !== owner ? { writtenOwner } : {}),
      ...(pending.includes(entry) ? { leaving: true } : {}),
    };
  });

/** What a run sees of the states, as they are now: the owner is the one of the logical name now. */
export const sightOf = (states: readonly ModelState[], stack: number) => {
  const [own = [], other = []] = [stack, 1 - stack].map((place) => {
    const state = states[place];
    return state ? holdingsOf(state, place === stack ? "prod" : "other", place === stack) : [];
  });
  return async (_: string, whose: "own" | "all"): Promise<ObjectHolders> => {
    const seen = whose === "own" ? own : [...own, ...other];
    return {
      holdersOf: (kind, id) => seen.filter((each) => each.kind === kind && each.id === id),
      readersOf: () => [],
      resourceOf: (kind, owner) => own.find((each) => each.kind === kind && each.owner === owner),
    };
  };
};
