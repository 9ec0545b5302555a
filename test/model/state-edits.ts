import { stackStateOf, statesOf } from "../../cli/pulumi/stack-states.js";
import { rememberStates } from "../../provider/dynamic/engine-run.js";
import { providerToken, tokenParts, typeToken, urnParts } from "../../provider/kernel/pulumi.js";
import type { StackState } from "../../provider/lifecycle/stack-states.js";
import type { Door } from "../support/door.js";
import type { ModelState, StateEntry } from "./engine.js";
import { type Name, names, places, type StateEdit, urnOfName } from "./scenario.js";

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
  for (const each of state.entries.values())
    each.refers = each.refers.filter((other) => other !== name);
  state.isEdited = true;
};

/** The other resource of its kind; for one that has a place, the one that differs by its number. */
export const siblingOf = (name: Name): Name | undefined => {
  const alike = (other: Name): boolean => other.slice(0, -1) === name.slice(0, -1);
  return [...names, ...places].find((other) => other !== name && alike(other));
};

/** The name that a resource gets in the stack that it moves to: its parent stays behind. */
export const movedName = (name: Name): Name => name.replace("box ", "") as Name;

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
  const moved = movedName(name);
  if (type === "move" && (other.entries.has(moved) || other.pending.some(hasIt))) return false;
  // With the old half of a replacement beside it, Pulumi asks which of the two is meant.
  if (type !== "move" && own.pending.some(hasIt)) return false;
  drop(own, name);
  if (type === "move") {
    // Every entry of that URN goes, the old halves of replacements among them (seen with 3.259.0).
    other.pending.push(...own.pending.filter(hasIt));
    own.pending.splice(0, own.pending.length, ...own.pending.filter((each) => !hasIt(each)));
    other.entries.set(moved, { ...entry, name: moved, refers: [] });
    other.isEdited = true;
  }
  return true;
};

/** A state as `pulumi stack export` shows it to a run. */
const stateOf = (state: ModelState, stack: string, isOwn: boolean, door: Door) => {
  const [, named = ""] = state.ownership.split("/");
  const provider = `urn:pulumi:${named}::shop::${providerToken}::default`;
  const pluginOwnership = door === "plugin" ? state.ownership : state.pluginOwnership;
  const entryOf = (entry: StateEntry) => {
    const { name, id, inputs, outputs } = entry;
    const urn = urnOfName(named, name, door);
    const { type } = urnParts(urn);
    const isPlugins = tokenParts(type)?.door === "plugin";
    const more = isPlugins ? { provider: `${provider}::p` } : {};
    return { urn, type, id, inputs, outputs, ...more, delete: state.pending.includes(entry) };
  };
  const ownership = typeToken("Ownership");
  const resources = [
    { urn: `urn:pulumi:${named}::shop::${ownership}::o`, type: ownership, id: state.ownership },
    { urn: provider, type: providerToken, id: "p", inputs: { ownership: pluginOwnership } },
    ...[...state.entries.values(), ...state.pending].map(entryOf),
  ];
  const document = { version: 3, deployment: { resources } };
  return stackStateOf(document, isOwn, stack);
};

/** What a run reads of the states, whenever it does. */
export const sightOf = (states: readonly ModelState[], stack: number, door: Door) =>
  rememberStates(async (_, whose) => {
    const read = (place: number): readonly StackState[] => {
      const isOwn = place === stack;
      const state = states[place];
      const seen = state && stateOf(state, isOwn ? "prod" : "other", isOwn, door);
      return seen ? [seen] : [];
    };
    const [own] = read(stack);
    return own && statesOf(own, whose === "all" ? read(1 - stack) : [], true);
  });
