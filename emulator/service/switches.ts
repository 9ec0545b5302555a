import { isObject } from "../../provider/kernel/json.js";
import type { Journal } from "./journal.js";

/** An uncertain aspect of the service, and its possible values. */
export interface Switch {
  readonly doc: string;
  /** The allowed values, or the range of whole numbers. */
  readonly values: readonly string[] | { readonly min: number; readonly max: number };
  readonly default: string | number | boolean;
}

const yesOrNo = ["true", "false"];

/**
 * Every uncertain aspect of the service, with the most likely behavior as the default.
 * `emulator --help` describes each.
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
  runningConversationStatus: {
    doc: "Status returned for a conversation that has not completed.",
    values: ["404", "400"],
    default: 404,
  },
  paging: {
    doc: "Whether a list is returned in pages or always in full.",
    values: ["pages", "all"],
    default: "pages",
  },
  unknownQuery: {
    doc: "Whether list calls refuse or ignore unknown query parameters.",
    values: ["refuse", "ignore"],
    default: "refuse",
  },
  unknownReference: {
    doc: "Whether the service refuses or accepts a reference to a nonexistent object.",
    values: ["refuse", "accept"],
    default: "refuse",
  },
  staleModified: {
    doc: "Whether the service refuses a PUT (409) if the request's `modified` differs from the object's.",
    values: ["ignore", "refuse"],
    default: "ignore",
  },
  channelRule: {
    doc: "What keeps a channel in use: the accounts that refer to it or, as the service's rule literally says, any client application.",
    values: ["account", "any-client-application"],
    default: "account",
  },
  deletionRule: {
    doc: "What prevents the deletion of an object: everything that refers to it, or only what the service's rules list, which excludes orchestrations.",
    values: ["every-reference", "specification"],
    default: "every-reference",
  },
  refusedCosts: {
    doc: "Whether a call that exceeds the rate still drains the bucket.",
    values: yesOrNo,
    default: false,
  },
  retryAfter: {
    doc: "Whether a 429 response includes Retry-After, and in which form.",
    values: ["none", "seconds", "date"],
    default: "none",
  },
  idleTimeout: {
    doc: "Whether a conversation completes once it has been idle for longer than its account's timeout (in minutes).",
    values: ["minutes", "ignore"],
    default: "minutes",
  },
  inactiveObjects: {
    doc: "Whether `active: false` disables the object or has no effect. Disabled accounts, channels, and orchestrations carry no conversations; disabled client applications and participants receive no messages; and disabled authentications authenticate no calls.",
    values: ["unused", "used"],
    default: "unused",
  },
  channelRestrictions: {
    doc: "Whether messages that violate their channel's restrictions (text length, features, rich messages, attachments) are refused or delivered.",
    values: ["refuse", "ignore"],
    default: "refuse",
  },
  deliveryRetries: {
    doc: "Number of additional attempts to deliver a message, one second apart, if the callback does not accept it.",
    values: { min: 0, max: 10 },
    default: 2,
  },
  assetUrlLifetime: {
    doc: "Lifetime of a signed URL, in seconds.",
    values: { min: 1, max: 86_400 },
    default: 300,
  },
  tokenLifetime: {
    doc: "Lifetime of an access token, in seconds.",
    values: { min: 1, max: 86_400 },
    default: 3600,
  },
  platformName: {
    doc: "The vendor's word that replaces `platform` in identifiers: one lowercase word.",
    values: [],
    default: "platform",
  },
} as const satisfies Readonly<Record<string, Switch>>;

type ValueOf<S> = S extends { readonly default: boolean }
  ? boolean
  : S extends { readonly default: number }
    ? number
    : S extends { readonly values: readonly (infer V)[] }
      ? [V] extends [never]
        ? string
        : V
      : string;

/** The value of every switch. */
export type Switches = {
  readonly [N in keyof typeof switchTable]: ValueOf<(typeof switchTable)[N]>;
};

/** The name of a switch for an uncertain aspect of the service. */
export type SwitchName = keyof Switches;

const names = Object.keys(switchTable);

const isName = (name: string): name is SwitchName => Object.hasOwn(switchTable, name);

const allowed = (name: SwitchName): string => {
  const { values } = switchTable[name];
  if ("min" in values) return `a whole number from ${values.min} to ${values.max}`;
  return values.length > 0 ? `one of ${values.join(", ")}` : "a lowercase word";
};

/** The value in its own type, or undefined if it is not allowed. */
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
 * Parses one switch with its new value, from the command line or a control call.
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

/** Parses several switches with their new values. Throws an Error if one of them is invalid. */
export const parseSwitches = (values: Readonly<Record<string, unknown>>): Partial<Switches> =>
  Object.assign({}, ...Object.entries(values).map(([name, value]) => parseSwitch(name, value)));

const isComplete = (
  values: Readonly<Record<string, unknown>>,
): values is Switches & Readonly<Record<string, unknown>> =>
  names.every((name) => values[name] !== undefined);

/** Whether untrusted input, such as data from the network, contains a value for every switch. */
export const isSwitches = (value: unknown): value is Switches =>
  isObject(value) && isComplete(value);

/**
 * Each switch's value at startup: the given value if there is one, otherwise the saved value,
 * otherwise the default.
 */
export const savedSwitches = (journal: Journal, given: Partial<Switches>): Switches => {
  const defaults = Object.entries(switchTable).map(([name, entry]) => [name, entry.default]);
  const saved = parseSwitches(Object.fromEntries(journal.read("switch")));
  const values = { ...Object.fromEntries(defaults), ...saved, ...given };
  if (!isComplete(values)) throw new Error("A switch has no value.");
  return values;
};

/** Sets switches in the object that every part of the emulator reads, and saves them. */
export const turnSwitches = (journal: Journal, switches: Switches, given: Partial<Switches>) => {
  journal.together(() => {
    for (const [name, value] of Object.entries(given)) journal.write("switch", name, value);
  });
  Object.assign(switches, given);
};
