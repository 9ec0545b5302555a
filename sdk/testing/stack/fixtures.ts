import type { EmulatedStack } from "./emulated-stack.js";
import type { EmulatedStackOptions } from "./stack-options.js";
import { startEmulatedStack, startWhile } from "./start-emulated-stack.js";

type UseStack = (stack: EmulatedStack) => Promise<void>;

/** A fixture as `test.extend` of vitest takes it. */
export type StackFixture = [
  fixture: (context: object, use: UseStack) => Promise<void>,
  options: { scope: "test" | "file" | "worker" },
];

/**
 * A fixture for vitest: a stack that is set up when the first test asks for it, and ended after the
 * last. Nothing is done where no test asks. It fails as `startEmulatedStack` does; give vitest's
 * `testTimeout` the time of an `up`.
 *
 * @param scope who shares the stack. Default: `file`, all tests of a file
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

/** How a test runner registers what comes before and after all tests. */
export interface TestHooks {
  /** `before` of node:test, `beforeAll` of vitest and jest. */
  readonly before: (work: () => Promise<void>) => unknown;
  /** `after` of node:test, `afterAll` of vitest and jest. */
  readonly after: (work: () => Promise<void>) => unknown;
}

/**
 * A stack for all tests of a file or suite, for node:test and every other runner with hooks: set up
 * before the first, ended after the last. It fails as `startEmulatedStack` does.
 *
 * @returns gives the stack; fails outside of tests
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
  let starting: Promise<EmulatedStack | undefined> | undefined;
  const over = new AbortController();
  before(async () => {
    const begun = startWhile(over.signal, options);
    starting = begun.catch(() => undefined);
    stack = await begun;
  });
  after(async () => {
    // Where the time for the hook was over before, it is still being set up.
    over.abort();
    const begun = await starting;
    stack = undefined;
    await begun?.close();
  });
  return () => {
    if (stack) return stack;
    throw new Error("The stack is there only while tests run: ask for it within a test.");
  };
};
