import type { Basis } from "../../provider/definition/define.js";
import { isObject } from "../../provider/kernel/json.js";
import type { Journal } from "./journal.js";

/** An uncertainty about the service, and its possible values. */
export interface Switch {
  readonly doc: string;
  /** The allowed values, or the range of whole numbers. */
  readonly values: readonly string[] | { readonly min: number; readonly max: number };
  readonly default: string | number | boolean;
  readonly basis: Basis;
}

const assumed = "assumed";
const yesOrNo = ["true", "false"];

/** Everything uncertain about the service, each with the likeliest behavior as its default. */
export const switchTable = {
  secrets: {
    doc: "How secret values are given back: as asterisks, as they are, or not at all.",
    values: ["mask", "echo", "omit"],
    default: "mask",
    basis: assumed,
  },
  put: {
    doc: "What PUT does to members it does not name: they go, or they stay.",
    values: ["replace", "keep"],
    default: "replace",
    basis: assumed,
  },
  inUseStatus: {
    doc: "Status of a refused deletion of a set-up object.",
    values: ["400", "403", "409", "412"],
    default: 400,
    basis: assumed,
  },
  usedAssetStatus: {
    doc: "Status of the refused deletion of an asset that was used in a message.",
    values: ["403", "400", "409"],
    default: 403,
    basis: assumed,
  },
  duplicateStatus: {
    doc: "Status if a unique name is taken.",
    values: ["400", "409"],
    default: 400,
    basis: assumed,
  },
  runningConversationStatus: {
    doc: "Status of fetching a conversation that is not completed.",
    values: ["404", "400"],
    default: 404,
    basis: assumed,
  },
  pageSize: {
    doc: "Objects on a page if the caller asks for no number.",
    values: { min: 1, max: 75 },
    default: 10,
    basis: assumed,
  },
  paging: {
    doc: "Whether a list comes in pages, or whole whatever is asked for.",
    values: ["pages", "all"],
    default: "pages",
    basis: assumed,
  },
  unknownQuery: {
    doc: "Whether a query parameter that is not known is refused.",
    values: ["refuse", "ignore"],
    default: "refuse",
    basis: assumed,
  },
  unknownFields: {
    doc: "What happens to members that nobody knows: kept, refused or dropped.",
    values: ["keep", "refuse", "drop"],
    default: "keep",
    basis: assumed,
  },
  unknownReference: {
    doc: "Whether the id of an object that does not exist is refused.",
    values: ["refuse", "accept"],
    default: "refuse",
    basis: assumed,
  },
  staleModified: {
    doc: "Whether a PUT with another `modified` than the object's is refused (409).",
    values: ["ignore", "refuse"],
    default: "ignore",
    basis: assumed,
  },
  forms: {
    doc: "Forms in which set-up objects are given back: as they were given, or the service's own, which a PUT takes back as well. Its own: no empty list or object where it is optional; null for what is optional and was not given; numbers as text, numeric ids in a text as numbers; URLs with a slash at the end, e-mail in lower case, text as NFC with CRLF; entries, agents and unordered lists sorted; an id added to the items of lists; references with the name of their target.",
    values: ["given", "own"],
    default: "given",
    basis: assumed,
  },
  channelRule: {
    doc: "What holds a channel: the accounts that name it, or, by the letter of the specification (§2 rule 3), any client application.",
    values: ["account", "any-client-application"],
    default: "account",
    basis: assumed,
  },
  deletionRule: {
    doc: "What holds an object that is to be deleted: everything that refers to it, or only what the specification names (§2), so not an orchestration.",
    values: ["every-reference", "specification"],
    default: "every-reference",
    basis: assumed,
  },
  refusedCosts: {
    doc: "Whether a call that is refused for its rate takes a token all the same.",
    values: yesOrNo,
    default: false,
    basis: assumed,
  },
  retryAfter: {
    doc: "Whether a 429 carries Retry-After, and in which form.",
    values: ["none", "seconds", "date"],
    default: "none",
    basis: assumed,
  },
  idleTimeout: {
    doc: "Whether a conversation is completed once it was idle for longer than the timeout of its account, in minutes.",
    values: ["minutes", "ignore"],
    default: "minutes",
    basis: assumed,
  },
  recipients: {
    doc: "Who gets a message if the orchestration names several bots or agents: all of them, or the first.",
    values: ["all", "first"],
    default: "all",
    basis: assumed,
  },
  inactiveObjects: {
    doc: "What an object with `active: false` does: nothing runs over it, or it counts as active. Accounts, channels and orchestrations carry no conversation then, client applications and participants get no message, authentications sign nobody in.",
    values: ["unused", "used"],
    default: "unused",
    basis: assumed,
  },
  channelRestrictions: {
    doc: "What happens to messages beyond the restrictions of their channel (text length, features, rich messages, attachments): refused, or carried all the same.",
    values: ["refuse", "ignore"],
    default: "refuse",
    basis: assumed,
  },
  notificationMails: {
    doc: "When the notificationEmail of a role gets a mail that its callback cannot be reached: for each message that is given up, for the first one until a message comes through again, or never. Mails go into the mailbox of the control interface only.",
    values: ["each", "first", "none"],
    default: "each",
    basis: assumed,
  },
  cors: {
    doc: "Which pages of other origins may read the answers of the token addresses and of the signed addresses: every page, those of registered redirect addresses, or no page.",
    values: ["any", "registered", "none"],
    default: "any",
    basis: assumed,
  },
  deliveryRetries: {
    doc: "Further tries to deliver a message, a second apart, if the callback does not accept it.",
    values: { min: 0, max: 10 },
    default: 2,
    basis: assumed,
  },
  callbackContent: {
    doc: "Form of the content in callbacks of version v3: as it was sent, or as text.",
    values: ["object", "text"],
    default: "object",
    basis: assumed,
  },
  assetUrlLifetime: {
    doc: "Life of a signed address in seconds.",
    values: { min: 1, max: 86_400 },
    default: 300,
    basis: assumed,
  },
  tokenLifetime: {
    doc: "Life of an access token in seconds.",
    values: { min: 1, max: 86_400 },
    default: 3600,
    basis: assumed,
  },
  platformName: {
    doc: "The vendor's own word that stands for `platform` in identifiers: a lower-case word.",
    values: [],
    default: "platform",
    basis: "public",
  },
} as const satisfies Readonly<Record<string, Switch>>;

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

/** Several switches at once; none is applied if one of them is wrong. */
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

/** Sets switches, in the object that every part of the emulator reads, and saves them. */
export const turnSwitches = (journal: Journal, switches: Switches, given: Partial<Switches>) => {
  journal.together(() => {
    for (const [name, value] of Object.entries(given)) journal.write("switch", name, value);
    journal.whenKept(() => Object.assign(switches, given));
  });
};

const neutral = "platform_";

/**
 * A word in the wire format, with the vendor's own in place of `platform`. Independent on purpose
 * of how the provider and the client spell it: a mistake of theirs must not pass here.
 */
export const vendorWord = (
  word: string,
  { platformName }: Pick<Switches, "platformName">,
): string => (word.startsWith(neutral) ? `${platformName}_${word.slice(neutral.length)}` : word);
