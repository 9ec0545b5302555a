import { AssertionError } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { assertNode } from "../../../provider/kernel/node-version.js";
import { differenceLine, differences } from "../checks/differences.js";
import { conversationMocks, type MockedResource } from "./conversation-mocks.js";

/** A program that was run on mocks. */
export interface MockedProgram {
  /** Its resources, in the order in which they were registered. */
  readonly resources: readonly MockedResource[];
  /** What it gives out, secrets in clear. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /**
   * The resource of a kind with this logical name.
   *
   * @throws AssertionError naming the resources of the kind
   */
  resource(kind: string, name: string): MockedResource;
  /**
   * Expects a resource whose inputs are like those given: texts may be patterns, of objects only the
   * members given count.
   *
   * @throws AssertionError with what differs
   */
  expectResource(kind: string, name: string, inputs: object): MockedResource;
}

/** How a program is run on mocks. */
export interface MockedRunOptions {
  /** Name of the project. Default: `test`. */
  readonly project?: string;
  /** Name of the stack. Default: `test`. */
  readonly stack?: string;
  /** Configuration by full key, such as `shop:callbackUrl`; keys without a namespace belong to the project. Default: none. */
  readonly config?: Readonly<Record<string, string>>;
}

const programOf = (
  resources: readonly MockedResource[],
  outputs: Readonly<Record<string, unknown>>,
): MockedProgram => {
  const resource = (kind: string, name: string): MockedResource => {
    const own = resources.filter(({ type }) => type === kind || type.endsWith(`:${kind}`));
    const found = own.find((each) => each.name === name);
    if (found) return found;
    const names = own.map((each) => JSON.stringify(each.name)).join(", ");
    throw new AssertionError({
      message: `The program declares no ${kind} ${JSON.stringify(name)}. Of this kind it declares: ${names || "nothing"}.`,
      operator: "resource",
    });
  };
  return {
    resources,
    outputs,
    resource,
    expectResource: (kind, name, expected) => {
      const found = resource(kind, name);
      const different = differences(expected, found.inputs);
      if (different.length === 0) return found;
      const lines = different.map((each) => `  ${differenceLine(each)}`);
      throw new AssertionError({
        message: [`${kind} ${name} is not as expected:`, ...lines].join("\n"),
        operator: "expectResource",
      });
    },
  };
};

/** The values of outputs. `apply` would wait for ever for one that fails. @throws what it failed with */
const resolved = async (outputs: JsonObject): Promise<unknown> => {
  const all = pulumi.output<JsonObject>(outputs);
  const promise: unknown = Reflect.get(all, "promise");
  return typeof promise === "function" ? promise.call(all) : undefined;
};

let earlier: Promise<unknown> = Promise.resolve();

/**
 * Runs a program without Pulumi's engine and without a service: for unit tests that take
 * milliseconds. Everything that it declares is checked as a preview checks it. The mocks of Pulumi
 * belong to the process: a run waits for the one before.
 *
 * @param program declares resources and may give outputs; a module that does so at its top is loaded
 * in it: `() => import("./index.js")`
 * @throws AssertionError with every rule that a resource breaks
 *
 * @example
 * const program = await runMocked(() => {
 *   new Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZCT1J3MEtHZ28=" });
 * });
 * program.expectResource("Channel", "web", { type: "custom.web", active: true });
 */
export const runMocked = (
  program: () => unknown,
  options: MockedRunOptions = {},
): Promise<MockedProgram> => {
  const run = earlier.then(() => runNow(program, options));
  earlier = run.catch(() => undefined);
  return run;
};

const runNow = async (
  program: () => unknown,
  { project = "test", stack = "test", config = {} }: MockedRunOptions,
): Promise<MockedProgram> => {
  assertNode();
  const mocks = conversationMocks();
  // What an earlier program still registers would come here.
  await pulumi.runtime.disconnect();
  await pulumi.runtime.setMocks(mocks, project, stack);
  const full = Object.entries(config).map(([key, value]) => [
    key.includes(":") ? key : `${project}:${key}`,
    value,
  ]);
  pulumi.runtime.setAllConfig(Object.fromEntries(full));
  const given: unknown = await program();
  const outputs = isObject(given) ? await resolved({ ...given }) : {};
  await pulumi.runtime.disconnect();
  if (mocks.failures.length > 0)
    throw new AssertionError({
      message: [
        "A preview would refuse the program:",
        ...mocks.failures.map((line) => `  ${line}`),
      ].join("\n"),
      operator: "runMocked",
    });
  return programOf(mocks.registered, isObject(outputs) ? outputs : {});
};
