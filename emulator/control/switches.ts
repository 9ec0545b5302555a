import { isObject } from "../../provider/kernel/json.js";
import type { Journal } from "../journal.js";
import { switchTable } from "./switch-table.js";

/** Something uncertain about the service. */
export type SwitchName = keyof typeof switchTable;

type ValueOf<S> = S extends { readonly default: boolean }
  ? boolean
  : S extends { readonly default: number }
    ? number
    : S extends { readonly values: readonly (infer V)[] }
      ? [V] extends [never]
        ? string
        : V
      : string;

/** The position of every switch. */
export type Switches = { readonly [N in SwitchName]: ValueOf<(typeof switchTable)[N]> };

const names = Object.keys(switchTable);

const isName = (name: string): name is SwitchName => Object.hasOwn(switchTable, name);

const allowed = (name: SwitchName): string => {
  const { values } = switchTable[name];
  if ("min" in values) return `a whole number from ${values.min} to ${values.max}`;
  return values.length > 0 ? `one of ${values.join(", ")}` : "a lower-case word";
};

/** The value in its own type, or undefined where it is not allowed. */
const parse = (name: SwitchName, text: string): string | number | boolean | undefined => {
  const { values, default: fallback } = switchTable[name];
  if ("min" in values) {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return number >= values.min && number <= values.max ? number : undefined;
  }
  const known: readonly string[] = values;
  const fits = known.length > 0 ? known.includes(text) : /^[a-z][a-z0-9]{0,31}$/.test(text);
  if (!fits) return undefined;
  if (typeof fallback === "number") return Number(text);
  return typeof fallback === "boolean" ? text === "true" : text;
};

/**
 * One switch in a new position, as the command line and the control call give it.
 *
 * @throws Error that lists what is allowed
 */
export const parseSwitch = (name: string, value: unknown): Partial<Switches> => {
  if (!isName(name))
    throw new Error(`There is no switch ${name.slice(0, 60)}. Switches: ${names.join(", ")}.`);
  const text = ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
  const parsed = parse(name, text);
  if (parsed === undefined) throw new Error(`The switch ${name} must be ${allowed(name)}.`);
  return { [name]: parsed };
};

/** Several switches at once; nothing is taken over where one of them is wrong. */
export const parseSwitches = (values: Readonly<Record<string, unknown>>): Partial<Switches> =>
  Object.assign({}, ...Object.entries(values).map(([name, value]) => parseSwitch(name, value)));

const isComplete = (
  values: Readonly<Record<string, unknown>>,
): values is Switches & Readonly<Record<string, unknown>> =>
  names.every((name) => values[name] !== undefined);

/** Whether a value, such as one that came over the network, is a position of every switch. */
export const isSwitches = (value: unknown): value is Switches =>
  isObject(value) && isComplete(value);

/** The positions at the start: those given, else those saved, else the defaults. */
export const savedSwitches = (journal: Journal, given: Partial<Switches>): Switches => {
  const defaults = Object.entries(switchTable).map(([name, entry]) => [name, entry.default]);
  const saved = parseSwitches(Object.fromEntries(journal.read("switch")));
  const values = { ...Object.fromEntries(defaults), ...saved, ...given };
  if (!isComplete(values)) throw new Error("A switch has no position.");
  return values;
};

/** Turns switches, in the object that every part of the emulator reads, and keeps them that way. */
export const turnSwitches = (journal: Journal, switches: Switches, given: Partial<Switches>) => {
  journal.together(() => {
    for (const [name, value] of Object.entries(given)) journal.write("switch", name, value);
    journal.whenKept(() => Object.assign(switches, given));
  });
};

const neutral = "platform_";

/**
 * A word as it travels: the vendor's own stands for `platform`. Independent on purpose of how the
 * provider and the client spell it: a mistake of theirs must not pass here.
 */
export const vendorWord = (
  word: string,
  { platformName }: Pick<Switches, "platformName">,
): string => (word.startsWith(neutral) ? `${platformName}_${word.slice(neutral.length)}` : word);
