import type { PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import type { Forecast } from "../../cli/forecast/forecast-schema.js";
import {
  type DeliveryEntry,
  type Emulator,
  type StoredObject,
  startEmulator,
} from "../../emulator/index.js";
import { objectsIn, textAt } from "../../provider/kernel/json.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { type ConversationClient, connect } from "../runtime/connect.js";
import { type CallbackServer, listTokenAnswers, startCallbackServer } from "./callback-server.js";
import {
  assertCalls,
  assertNoObjectLike,
  describeMissingDelivery,
  type ExpectedCalls,
  type ExpectedDelivery,
  findDelivery,
  findKind,
  findObjectLike,
  type HubCall,
  HubRecords,
  StackFailure,
  stripAddress,
} from "./checks.js";
import type {
  EmulatedStackOptions,
  PulumiCommandName,
  PulumiStack,
  StackRun,
} from "./pulumi-stack.js";
import type { ForecastLimits } from "./stack-forecast.js";
import {
  EmulatedTime,
  type TestConversation,
  type TestConversationStart,
  testConversation,
} from "./test-conversation.js";

/**
 * A Pulumi program applied to its own emulator. A method throws a StackFailure if its Pulumi run
 * fails, and an AssertionError that shows the actual state if its expectation fails.
 */
export interface EmulatedStack extends AsyncDisposable {
  /** The emulator. */
  readonly emulator: Emulator;
  /** The stack in Pulumi's Automation API. */
  readonly stack: Stack;
  /** A client for sending and reading messages in the emulator. */
  readonly client: ConversationClient;
  /** The outputs of the last `up`, with secrets in plain text. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /**
   * Runs `pulumi up`.
   *
   * @param program another program, for this run and all later ones. Default: the previous one
   */
  up(program?: PulumiFn): Promise<StackRun>;
  /** Runs `pulumi preview`. `program` replaces the program for this run only. */
  preview(program?: PulumiFn): Promise<StackRun>;
  /** Runs `pulumi refresh`. */
  refresh(): Promise<StackRun>;
  /** Runs `pulumi destroy`. */
  destroy(): Promise<StackRun>;
  /**
   * Returns the objects of a kind, such as `Participant`: the service's JSON, with secrets in plain
   * text.
   */
  objects(kind: string): Promise<readonly StoredObject[]>;
  /** Returns the last 10,000 calls to the service, including calls from tests. */
  calls(): Promise<readonly HubCall[]>;
  /** Returns every delivery attempt. */
  deliveries(): Promise<readonly DeliveryEntry[]>;
  /**
   * Expects an object with these members. Regular expressions match strings. In objects, only
   * the given members are compared; in lists, all items.
   *
   * @returns the object
   *
   * @example
   * await stack.expectObject("Participant", { name: /^orders-bot/, type: "custom_bot" });
   */
  expectObject(kind: string, expected: object): Promise<StoredObject>;
  /** Expects that no object of this kind matches. `{}` matches every object. */
  expectNoObject(kind: string, expected: object): Promise<void>;
  /**
   * Expects exactly this number of calls to each endpoint, and none to other endpoints.
   *
   * @param of the calls to count. Default: all since the emulator started
   *
   * @example
   * const { calls } = await stack.up();
   * await stack.expectCalls({}, calls);
   */
  expectCalls(expected: ExpectedCalls, of?: readonly HubCall[]): Promise<void>;
  /**
   * Waits for a matching delivery, for up to `withinMs` milliseconds on the emulator's clock.
   * Default: 5,000.
   */
  expectDelivery(
    expected: ExpectedDelivery & { readonly withinMs?: number },
  ): Promise<DeliveryEntry>;
  /**
   * Expects the forecast of a run's duration and number of calls for a plan to stay within limits.
   *
   * @example
   * await stack.expectForecast({ plan: "developer", maxMinutes: 2, maxCalls: 30 });
   */
  expectForecast(limits: ForecastLimits): Promise<Forecast>;
  /**
   * Returns a conversation with the account. It starts when the test sends the first message.
   *
   * @example
   * const ada = stack.conversation({ channel: "custom.web", address: "shop-web" });
   * await ada.say("Where is my order?");
   * await ada.expect({ from: "bot", type: "richMessage.listpicker" });
   */
  conversation(start: TestConversationStart): TestConversation;
  /**
   * Polls until a value appears or time is up.
   *
   * @param look returns undefined until there is a value
   * @param withinMs time limit, on the emulator's clock
   * @returns the value; undefined after the time limit
   */
  until<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined>;
  /**
   * Advances a manual clock by a number of milliseconds, so that a conversation ages immediately.
   */
  advance(ms: number): void;
  /** Stops the emulator and removes the stack's state, without destroying the stack first. */
  close(): Promise<void>;
}

const defaultWithinMs = 5_000;

/** Everything that a stack of a test is made of, and that ends with it. */
interface Parts {
  readonly server: CallbackServer;
  readonly emulator: Emulator;
  readonly client: ConversationClient;
  readonly pulumi: PulumiStack;
}

/** Ends each part, whatever becomes of the others. @throws what the first of them failed with */
const endAll = async ({ client, emulator, server, pulumi }: Partial<Parts>): Promise<void> => {
  const ended = await Promise.allSettled([client?.close(), emulator?.close(), server?.close()]);
  pulumi?.remove();
  const failed = ended.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
};

const startParts = async (options: EmulatedStackOptions): Promise<Parts> => {
  // Loaded only here: unit tests do without Pulumi's Automation API.
  const { createPulumiStack } = await import("./pulumi-stack.js");
  const server = await startCallbackServer();
  const begun: Partial<Parts> = { server };
  try {
    const settings = {
      ...({ clock: "manual", controlSecret: true } as const),
      ...options.emulator,
      callbackRoute: server.route,
    };
    const emulator = await startEmulator(settings);
    const platformName = options.emulator?.switches?.platformName;
    const client = connect(platformName === undefined ? emulator : { ...emulator, platformName });
    Object.assign(begun, { emulator, client });
    const pulumi = await createPulumiStack(emulator, options);
    return { server, emulator, client, pulumi };
  } catch (error) {
    await endAll(begun);
    throw error;
  }
};

/** @throws StackFailure if a handler is for an address that no role has */
const assertHandlersUsed = (
  server: CallbackServer,
  applications: readonly StoredObject[],
): void => {
  const roles = applications.flatMap((object) => objectsIn(object, "roles"));
  const known = new Set(roles.map((role) => stripAddress(textAt(role, "callback") ?? "")));
  const unused = server.addresses().filter((address) => !known.has(address));
  if (unused.length === 0) return;
  throw new StackFailure(
    `Could not set up a stack for a test: the callbacks option has a handler for ${unused.join(", ")}, but no role in a client application has this callback. Callbacks: ${[...known].join(", ") || "none"}.`,
  );
};

const createStack = (parts: Parts, options: EmulatedStackOptions): EmulatedStack => {
  const { server, emulator, client, pulumi } = parts;
  const { stack } = pulumi;
  const { switches, clock = "manual" } = options.emulator ?? {};
  const records = new HubRecords(emulator.control, switches?.platformName ?? "platform");
  const time = new EmulatedTime(emulator, clock === "manual");
  const finalTries = (switches?.deliveryRetries ?? 2) + 1;
  let outputs: Readonly<Record<string, unknown>> = {};
  const objects = (kind: string) => records.objects(findKind(kind).collection);
  /** Interrupts the runs that are under way when the stack is closed. */
  const over = new AbortController();
  const running = new Set<Promise<unknown>>();
  const run = async (command: PulumiCommandName, program?: PulumiFn): Promise<StackRun> => {
    if (over.signal.aborted)
      throw new StackFailure("The stack is closed and accepts no more runs.");
    const means = { stack, records, time, signal: over.signal };
    const begun = pulumi.run(command, means, program);
    running.add(begun);
    const { outputs: made, ...done } = await begun.finally(() => running.delete(begun));
    if (command === "up")
      outputs = Object.fromEntries(Object.entries(made).map(([name, { value }]) => [name, value]));
    server.setTokenAnswers(await listTokenAnswers(records));
    return done;
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    over.abort();
    closing ??= Promise.allSettled(running).then(() => endAll(parts));
    return closing;
  };
  return {
    emulator,
    stack,
    client,
    get outputs() {
      return outputs;
    },
    up: async (program) => {
      if (program) stack.workspace.program = program;
      return run("up");
    },
    preview: (program) => run("preview", program),
    refresh: () => run("refresh"),
    destroy: () => run("destroy"),
    objects,
    calls: () => records.calls(),
    deliveries: () => records.deliveries(),
    expectObject: async (kind, expected) =>
      findObjectLike(findKind(kind), await objects(kind), expected),
    expectNoObject: async (kind, expected) =>
      assertNoObjectLike(findKind(kind), await objects(kind), expected),
    expectCalls: async (expected, of) => assertCalls(of ?? (await records.calls()), expected),
    expectDelivery: async ({ withinMs = defaultWithinMs, ...expected }) => {
      const found = await time.until(
        async () => findDelivery(await records.deliveries(), expected),
        withinMs,
      );
      if (found) return found;
      throw describeMissingDelivery(expected, withinMs, await records.deliveries());
    },
    expectForecast: async (limits) => {
      const { assertForecast } = await import("./stack-forecast.js");
      return assertForecast(await stack.exportStack(), limits);
    },
    conversation: (start) =>
      testConversation({ client, records, time, finalTries, handlers: server }, start),
    until: (look, withinMs) => time.until(look, withinMs),
    advance: (ms) => time.advance(ms),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/**
 * Starts an emulator and applies a Pulumi program to it with `pulumi up`, using the real engine,
 * the real provider, and state that is removed with the stack. Requires the Pulumi CLI.
 *
 * @throws StackFailure if there is no Pulumi CLI, or if `up` fails, with Pulumi's output
 *
 * @example
 * const stack = await startEmulatedStack({
 *   program: async () => {
 *     const desk = new Authentication("desk", { basicAuth: { username: "hub", password } });
 *     return { id: desk.id };
 *   },
 * });
 * await stack.expectObject("Authentication", { type: "basic" });
 * await stack.close();
 */
export const startEmulatedStack = async (options: EmulatedStackOptions): Promise<EmulatedStack> => {
  const parts = await startParts(options);
  const made = createStack(parts, options);
  try {
    const { callbacks = {} } = options;
    const { server, client, emulator } = parts;
    server.setHandlers(
      typeof callbacks === "function" ? callbacks({ client, emulator }) : callbacks,
    );
    await made.up();
    assertHandlersUsed(server, await made.objects(clientApplication.kind));
    return made;
  } catch (error) {
    await made.close();
    throw error;
  }
};

type UseStack = (stack: EmulatedStack) => Promise<void>;

/** A fixture in the form that vitest's `test.extend` accepts. */
export type StackFixture = [
  fixture: (context: object, use: UseStack) => Promise<void>,
  options: { scope: "test" | "file" | "worker" },
];

/**
 * Returns a vitest fixture: a stack that is set up when the first test uses it and closed after the
 * last test. If no test uses the stack, nothing happens. Setup can fail in the same ways as
 * `startEmulatedStack`. Set vitest's `testTimeout` to a value longer than an `up` takes.
 *
 * @param scope who shares the stack. Default: `file`, all tests in a file
 *
 * @example
 * const shop = stackFixture({ program: "." });
 * // import { test as base } from "vitest";
 * // const test = base.extend<{ shop: EmulatedStack }>({ shop });
 * // test("the bot is there", ({ shop }) => shop.expectObject("Participant", { type: "custom_bot" }));
 */
export const stackFixture = (
  options: EmulatedStackOptions,
  scope: StackFixture[1]["scope"] = "file",
): StackFixture => [
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from it which fixtures are needed
  async ({}, use) => {
    const stack = await startEmulatedStack(options);
    try {
      await use(stack);
    } finally {
      await stack.close();
    }
  },
  { scope },
];

/** A test runner's functions for registering hooks that run before and after all tests. */
export interface TestHooks {
  /** `before` from node:test, or `beforeAll` from vitest or jest. */
  readonly before: (work: () => Promise<void>) => unknown;
  /** `after` from node:test, or `afterAll` from vitest or jest. */
  readonly after: (work: () => Promise<void>) => unknown;
}

/**
 * Returns a stack for all tests in a file or suite, set up before the first test and closed after
 * the last. Works with node:test and any other runner that has these hooks. Setup can fail in
 * the same ways as `startEmulatedStack`.
 *
 * @returns a function that returns the stack; it fails outside tests
 *
 * @example
 * // import { after, before, test } from "node:test";
 * const shop = stackHooks({ before, after }, { program: "." });
 * test("the bot is there", async () => {
 *   await shop().expectObject("Participant", { type: "custom_bot" });
 * });
 */
export const stackHooks = (
  { before, after }: TestHooks,
  options: EmulatedStackOptions,
): (() => EmulatedStack) => {
  let stack: EmulatedStack | undefined;
  let starting: Promise<EmulatedStack> | undefined;
  before(async () => {
    starting = startEmulatedStack(options);
    stack = await starting;
  });
  after(async () => {
    stack = undefined;
    // Where the time for the first hook was over before, it is still being set up.
    const begun = await starting?.catch(() => undefined);
    await begun?.close();
  });
  return () => {
    if (stack) return stack;
    throw new Error("The stack exists only while tests run: use it within a test.");
  };
};
