import { isKeyOf, isObject } from "../../provider/kernel/json.js";

/** An uncertain aspect of the service, and its possible values. */
export interface Switch {
  readonly doc: string;
  /** The allowed values, the range of whole numbers, or a lowercase word. */
  readonly values: readonly string[] | { readonly min: number; readonly max: number } | "word";
  readonly default: string | number;
}

/**
 * The uncertain aspects of the service that programs depend on, with the most likely behavior as
 * the default. `emulator --help` describes each.
 */
export const switchTable = {
  secrets: {
    doc: "How responses show secrets: masked with asterisks, in plain text, or not at all.",
    values: ["mask", "echo", "omit"],
    default: "mask",
  },
  put: {
    doc: "Whether PUT removes or keeps members that the body omits.",
    values: ["replace", "keep"],
    default: "replace",
  },
  unknownReference: {
    doc: "Whether the service refuses or accepts a reference to a nonexistent object.",
    values: ["refuse", "accept"],
    default: "refuse",
  },
  deliveryRetries: {
    doc: "Number of additional attempts to deliver a message, one second apart, if the callback does not accept it.",
    values: { min: 0, max: 10 },
    default: 2,
  },
  platformName: {
    doc: "The vendor's word that replaces `platform` in identifiers: one lowercase word.",
    values: "word",
    default: "platform",
  },
} as const satisfies Readonly<Record<string, Switch>>;

type ValueOf<S extends Switch> = S["default"] extends number
  ? number
  : S["values"] extends readonly (infer V)[]
    ? V
    : string;

/** The value of every switch. */
export type Switches = {
  readonly [N in keyof typeof switchTable]: ValueOf<(typeof switchTable)[N]>;
};

const names = Object.keys(switchTable);

const describeValues = ({ values }: Switch): string => {
  if (values === "word") return "a lowercase word";
  return "min" in values
    ? `a whole number from ${values.min} to ${values.max}`
    : `one of ${values.join(", ")}`;
};

/** The value in its own type, or undefined if it is not allowed. */
const parseValue = ({ values }: Switch, text: string): string | number | undefined => {
  if (values === "word") return /^[a-z][a-z0-9]{0,31}$/.test(text) ? text : undefined;
  if (!("min" in values)) return values.includes(text) ? text : undefined;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return number >= values.min && number <= values.max ? number : undefined;
};

/**
 * Parses one switch with its new value, from the command line or a control call.
 *
 * @throws Error that lists what is allowed
 */
export const parseSwitch = (name: string, value: unknown): Partial<Switches> => {
  if (!isKeyOf(switchTable, name))
    throw new Error(`There is no switch ${name.slice(0, 60)}. Switches: ${names.join(", ")}.`);
  const text = ["string", "number"].includes(typeof value) ? String(value) : "";
  const parsed = parseValue(switchTable[name], text);
  if (parsed === undefined)
    throw new Error(`The switch ${name} must be ${describeValues(switchTable[name])}.`);
  return { [name]: parsed };
};

/** Parses several switches with their new values. Throws an Error if one of them is invalid. */
export const parseSwitches = (values: Readonly<Record<string, unknown>>): Partial<Switches> =>
  Object.assign({}, ...Object.entries(values).map(([name, value]) => parseSwitch(name, value)));

/** Whether untrusted input, such as data from the network, contains a value for every switch. */
export const isSwitches = (value: unknown): value is Switches =>
  isObject(value) && names.every((name) => value[name] !== undefined);

/** Each switch's given value, otherwise the default. @throws Error if one is invalid */
export const createSwitches = (given: Readonly<Record<string, unknown>> = {}): Switches => {
  const defaults = Object.entries(switchTable).map(([name, entry]) => [name, entry.default]);
  const values: unknown = { ...Object.fromEntries(defaults), ...parseSwitches(given) };
  if (!isSwitches(values)) throw new Error("A switch has no value.");
  return values;
};
