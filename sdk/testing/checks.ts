import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import type { DeliveryEntry, EmulatorControl, StoredObject } from "../../emulator/index.js";
import type { Definition } from "../../provider/definition/define.js";
import { valuesIn } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { isObject, memberOf } from "../../provider/kernel/json.js";
import { abbreviated } from "../../provider/kernel/text.js";
import { resources } from "../../provider/resources/index.js";
import { type ReceivedMessage, readReceivedMessage } from "../runtime/received-message.js";

/** Returns the AssertionError for a failed expectation. Never fails. */
export const createAssertionError = (
  lines: readonly string[],
  operator: string,
): AssertionError => {
  const error = new AssertionError({ message: lines.join("\n"), operator });
  // A setting of Node.js 24 (`simple`), which vitest would print as a difference.
  Reflect.deleteProperty(error, "diff");
  return error;
};

/**
 * The error thrown if a test stack cannot be set up or a Pulumi run fails. The message states what was
 * being done, what Pulumi reported, and what to do next.
 *
 * @throws nothing: the constructor never fails
 * @example
 * try {
 *   await stack.up();
 * } catch (error) {
 *   if (!(error instanceof StackFailure)) throw error;
 *   console.error(error.message);
 * }
 */
export class StackFailure extends Error {
  /** Always `StackFailure`. */
  override readonly name = "StackFailure";
}

/** How a value differs from what is expected. */
interface Difference {
  /** Such as `roles[0].callback`; empty for the value itself. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Returns the differences between a value and the expected one. In objects, only the expected
 * members are compared; in lists, all items. A member that is expected to be undefined must be
 * missing.
 */
export const findMismatches = (expected: unknown, actual: unknown, path = ""): Difference[] => {
  const unless = (fits: boolean): Difference[] => (fits ? [] : [{ path, expected, actual }]);
  if (expected instanceof RegExp)
    return unless(typeof actual === "string" && new RegExp(expected).test(actual));
  if (Array.isArray(expected))
    return Array.isArray(actual) && actual.length === expected.length
      ? expected.flatMap((each, place) => findMismatches(each, actual[place], `${path}[${place}]`))
      : unless(false);
  if (!isObject(expected)) return unless(Object.is(expected, actual));
  // The matchers of vitest and jest, such as `expect.any(String)`, decide by themselves.
  const { asymmetricMatch } = expected;
  if (typeof asymmetricMatch === "function")
    return unless(asymmetricMatch.call(expected, actual) === true);
  if (!isObject(actual)) return unless(false);
  return Object.entries(expected).flatMap(([name, each]) =>
    findMismatches(each, memberOf(actual, name), path === "" ? name : `${path}.${name}`),
  );
};

const longestShown = 200;

/** Formats a value as one line of limited length; undefined becomes `missing`. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  const text = inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  return abbreviated(text, longestShown);
};

/**
 * Formats a difference as a readable line. `show` formats the actual value, and can hide secrets.
 */
export const describeMismatch = (
  { path, expected, actual }: Difference,
  show: (value: unknown) => string = shown,
): string => `${path === "" ? "it" : path}: expected ${shown(expected)}, is ${show(actual)}`;

/**
 * Returns an error from user code as one line, with the place outside of libraries where it was
 * thrown, but without the rest of the stack.
 */
export const errorText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const lines = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const place = lines.find((line) => !/node_modules|node:|<anonymous>$/.test(line))?.trim();
  return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`;
};

/**
 * Returns a URL without its query, fragment, or credentials, as in the emulator's log; empty for an
 * invalid URL.
 */
export const stripAddress = (address: string): string => {
  if (!URL.canParse(address)) return "";
  const { origin, pathname } = new URL(address);
  return origin + pathname;
};

/** A call that the emulator responded to. */
export interface HubCall {
  /** Arrival time, on the emulator's clock: ISO 8601. */
  readonly at: string;
  /** Method and path template, such as `POST /channels`. */
  readonly endpoint: string;
  /** HTTP status of the response. */
  readonly status: number;
}

/**
 * Returns the definition of a kind by its name (`Participant`) or its collection (`participants`).
 */
export const findKind = (name: string): Definition => {
  const found = resources.find(({ kind, collection }) => kind === name || collection === name);
  if (found) return found;
  const known = resources.map(({ kind }) => kind).join(", ");
  throw new Error(`There is no kind ${JSON.stringify(name)}. Kinds: ${known}.`);
};

type Readings = Pick<EmulatorControl, "snapshot" | "log" | "deliveries" | "conversations">;

/** An emulator's objects and records, read through its control interface. */
export class HubRecords {
  constructor(
    private readonly control: Readings,
    readonly platformName: string,
  ) {}

  /** Returns the objects in a collection, in order of creation. */
  async objects(collection: string): Promise<readonly StoredObject[]> {
    const { objects } = await this.control.snapshot();
    return objects[collection] ?? [];
  }

  /** Returns the calls to setup and runtime operations, in order, from a position of the log on. */
  async calls(from = 0): Promise<readonly HubCall[]> {
    return (await this.control.log())
      .filter(({ place }) => place >= from)
      .map(({ at, method, template, status }) => ({
        at,
        endpoint: `${method} ${template}`,
        status,
      }));
  }

  /** Returns the position of the next call. */
  async nextCall(): Promise<number> {
    return ((await this.control.log()).at(-1)?.place ?? -1) + 1;
  }

  /** Returns every delivery attempt, in order. */
  deliveries(): Promise<readonly DeliveryEntry[]> {
    return this.control.deliveries();
  }

  /** Returns the messages in a conversation, in order, even while the conversation is ongoing. */
  async messages(conversationId: string): Promise<readonly ReceivedMessage[]> {
    const found = (await this.control.conversations()).find(({ id }) => id === conversationId);
    return (found?.messages ?? []).flatMap(({ body, recipients, id, messageId, created }) => {
      const wire = { ...body, id, messageId, created, recipients: { recipient: recipients } };
      return readReceivedMessage(wire, this.platformName, conversationId) ?? [];
    });
  }
}

/** Expected number of calls per endpoint, such as `{ "POST /participants": 2 }`. */
export type ExpectedCalls = Readonly<Record<string, number>>;

const times = (count: number): string =>
  count === 0 ? "no call" : count === 1 ? "1 call" : `${count} calls`;

/**
 * Expects exactly these calls, including refused ones, and no calls to other endpoints.
 *
 * @throws AssertionError with a line for each endpoint that differs
 */
export const assertCalls = (calls: readonly HubCall[], expected: ExpectedCalls): void => {
  const made = Map.groupBy(calls, ({ endpoint }) => endpoint);
  const lines = [...new Set([...Object.keys(expected), ...made.keys()])].flatMap((name) => {
    const [wanted, actual] = [expected[name] ?? 0, made.get(name)?.length ?? 0];
    return wanted === actual ? [] : [`  ${name}: expected ${times(wanted)}, made ${times(actual)}`];
  });
  const title = "The calls to the service differ from the expected calls:";
  if (lines.length > 0) throw createAssertionError([title, ...lines], "expectCalls");
};

/** The expected delivery. Omitted members can have any value. */
export interface ExpectedDelivery {
  /** The callback's URL, without its query. */
  readonly url?: string | RegExp;
  /** Message type, such as `text`. */
  readonly type?: string | RegExp;
  /** Expected status of the callback's response. Default: any 2xx. */
  readonly status?: number;
  /** The sender's own ID for the message. */
  readonly messageId?: string | RegExp;
}

/** Returns the first matching delivery attempt; undefined if there is none. */
export const findDelivery = (
  tries: readonly DeliveryEntry[],
  { status, ...expected }: ExpectedDelivery,
): DeliveryEntry | undefined =>
  tries.find((each) => {
    const answered = each.status ?? 0;
    const fits = status === undefined ? answered >= 200 && answered <= 299 : answered === status;
    return fits && findMismatches(expected, each).length === 0;
  });

const tryLine = ({ type, url, attempt, status, error }: DeliveryEntry): string =>
  `  ${type} to ${url || "no address"}, attempt ${attempt}: ${status ?? error ?? "no response"}`;

/** Returns the error to throw if no delivery matches. */
export const describeMissingDelivery = (
  expected: ExpectedDelivery,
  withinMs: number,
  tries: readonly DeliveryEntry[],
): AssertionError => {
  const last = tries.slice(-10).map(tryLine);
  const so = last.length === 0 ? ["There were no deliveries."] : ["Deliveries so far:", ...last];
  const title = `No delivery matched ${shown(expected)} within ${withinMs / 1000} s.`;
  return createAssertionError([title, ...so], "expectDelivery");
};

/** Shows a value without the secrets of an object. */
const hideSecrets = ({ fields }: Definition, object: StoredObject) => {
  const secrets = valuesIn(fields, object).flatMap(({ field, value }) =>
    field.secret && typeof value === "string" && value !== "" ? [value] : [],
  );
  return (value: unknown): string =>
    secrets.reduce((text, secret) => text.replaceAll(secret, "[secret]"), shown(value));
};

const nameObject = (definition: Definition, object: StoredObject): string =>
  JSON.stringify(object[naturalKey(definition)] ?? object.id);

const listTitles = (definition: Definition, objects: readonly StoredObject[]): string => {
  if (objects.length === 0) return `The account has no ${definition.noun}s.`;
  const names = objects.map((object) => nameObject(definition, object));
  return `The account has ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}.`;
};

/**
 * Returns the first matching object.
 *
 * @throws AssertionError with the nearest object and how it differs
 */
export const findObjectLike = (
  definition: Definition,
  objects: readonly StoredObject[],
  expected: object,
): StoredObject => {
  const compared = objects.map((object) => ({ object, found: findMismatches(expected, object) }));
  const [near] = compared.sort((one, other) => one.found.length - other.found.length);
  if (near?.found.length === 0) return near.object;
  const lines = [`No ${definition.noun} in the account matches ${shown(expected)}.`];
  if (near) {
    const show = hideSecrets(definition, near.object);
    lines.push(`The closest match is ${nameObject(definition, near.object)}:`);
    lines.push(...near.found.map((difference) => `  ${describeMismatch(difference, show)}`));
  }
  throw createAssertionError([...lines, listTitles(definition, objects)], "expectObject");
};

/** @throws AssertionError naming the objects that match but must not exist */
export const assertNoObjectLike = (
  definition: Definition,
  objects: readonly StoredObject[],
  expected: object,
): void => {
  const fitting = objects.filter((object) => findMismatches(expected, object).length === 0);
  if (fitting.length === 0) return;
  const names = fitting.map((object) => nameObject(definition, object)).join(", ");
  const found = `that matches ${shown(expected)}, but the account has ${names}.`;
  throw createAssertionError([`Expected no ${definition.noun} ${found}`], "expectNoObject");
};
