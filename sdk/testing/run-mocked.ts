import { hash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { ConversationError } from "../../provider/kernel/errors.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { pluginToken, typeToken } from "../../provider/kernel/pulumi.js";
import { type Lifecycle, lifecycle } from "../../provider/lifecycle/index.js";
import { ownershipKind, ownershipLifecycle } from "../../provider/lifecycle/ownership-resource.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import { createAssertionError, describeMismatch, findMismatches } from "./checks.js";

const noSettings = (): never => {
  throw new ConversationError("SETTINGS_MISSING", "A unit test has no service settings.");
};

/**
 * Checks as in a preview, without the service, by the kind's type token; those of one run of a
 * program, so that a unique name that is given twice is refused.
 */
const createChecks = (): ReadonlyMap<string, Pick<Lifecycle, "check">> => {
  const run = createRun(async () => noSettings(), { settings: noSettings });
  return new Map<string, Pick<Lifecycle, "check">>([
    [typeToken(ownershipKind), ownershipLifecycle],
    ...resources.map(
      (definition) => [typeToken(definition.kind), lifecycle(definition, run)] as const,
    ),
  ]);
};

/** An ID as the service makes them, always the same for the same resource. */
const createId = (type: string, name: string): string => {
  const digest = hash("sha256", `${type} ${name}`);
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`];
  return [...parts, `8${digest.slice(17, 20)}`, digest.slice(20, 32)].join("-");
};

/** The inputs without what only the provider needs. */
const givenInputs = ({
  __provider,
  owner,
  autoName,
  logicalName,
  ...inputs
}: JsonObject): JsonObject => inputs;

/** A resource that a program declared. */
export interface MockedResource {
  /** Type token, such as `pulumi-nodejs:dynamic/conversation:Participant`. */
  readonly type: string;
  /** Logical name. */
  readonly name: string;
  /**
   * ID: for a lookup, as given; otherwise, derived from the type and name, so that it is always the
   * same.
   */
  readonly id: string;
  /**
   * Normalized inputs, as the provider would send them, with references as IDs and secrets in plain
   * text.
   */
  readonly inputs: JsonObject;
}

/** Mocks for `pulumi.runtime.setMocks`, and what they recorded. */
export interface ConversationMocks extends pulumi.runtime.Mocks {
  /** Resources registered so far, in order. */
  readonly registered: readonly MockedResource[];
  /** Messages about the rules that resources break, worded as in a preview. */
  readonly failures: readonly string[];
}

/** Values without the engine's wrapping of secrets. */
const unwrapSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unwrapSecrets);
  if (!isObject(value)) return value;
  if (pulumi.runtime.specialSigKey in value) return unwrapSecrets(value.value);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, unwrapSecrets(each)]),
  );
};

const readMembers = (value: unknown): JsonObject => {
  const plain = unwrapSecrets(value);
  return isObject(plain) ? plain : {};
};

/**
 * Returns mocks for `pulumi.runtime.setMocks`. They check every resource from this package as a
 * preview does. Every resource, from any package, and every object that `find` looks up receives an
 * ID, and its inputs become its outputs. The mocks never fail: `failures` contains what a preview would refuse.
 *
 * @example
 * const mocks = conversationMocks();
 * await pulumi.runtime.setMocks(mocks, "shop", "test");
 */
export const conversationMocks = (): ConversationMocks => {
  const registered: MockedResource[] = [];
  const failures: string[] = [];
  const checks = createChecks();
  const places = new Set<string>();
  return {
    registered,
    failures,
    call: ({ token, inputs }) =>
      token.startsWith(pluginToken("find")) ? { id: createId(token, JSON.stringify(inputs)) } : {},
    newResource: async ({ type, name, inputs: given, id: wanted }) => {
      const inputs = readMembers(given);
      const made = createId(type, name);
      // As the engine has it: messages take the logical names of resources from what owns them.
      const isOwnership = type === typeToken(ownershipKind);
      const id = wanted || (isOwnership ? `${inputs.project}/${inputs.stack}/${made}` : made);
      const lifecycle = wanted ? undefined : checks.get(type);
      const checked = await lifecycle?.check({}, inputs);
      const kind = type.slice(typeToken("").length);
      for (const { reason } of checked?.failures ?? []) failures.push(`${kind} ${name}: ${reason}`);
      // Pulumi's mocks accept what its engine refuses: two resources with one URN.
      const place = `${type} ${inputs.logicalName}`;
      if (inputs.logicalName !== undefined && places.has(place))
        failures.push(`${kind} ${name}: the program has another ${kind} of this name.`);
      places.add(place);
      const state = { ...inputs, ...checked?.inputs };
      registered.push({
        type,
        name,
        id,
        inputs: givenInputs(readMembers(checked?.inputs ?? inputs)),
      });
      return { id, state };
    },
  };
};

/** The result of running a program with mocks. */
export interface MockedProgram {
  /** The program's resources, in order of registration. */
  readonly resources: readonly MockedResource[];
  /** The program's outputs, with secrets in plain text. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /**
   * Returns the resource of a kind with this logical name.
   *
   * @throws AssertionError naming the resources of the kind
   */
  resource(kind: string, name: string): MockedResource;
  /**
   * Expects a resource with these inputs. An expected value can be a regular expression that a string must match. In objects, only
   * the given members are compared.
   *
   * @throws AssertionError with the findMismatches
   */
  expectResource(kind: string, name: string, inputs: object): MockedResource;
}

/** Options for running a program with mocks. */
export interface MockedRunOptions {
  /** Name of the project. Default: `test`. */
  readonly project?: string;
  /** Name of the stack. Default: `test`. */
  readonly stack?: string;
  /**
   * Configuration, keyed by full names such as `shop:callbackUrl`; keys without a namespace belong
   * to the project. Default: none.
   */
  readonly config?: Readonly<Record<string, string>>;
}

const createProgram = (
  resources: readonly MockedResource[],
  outputs: Readonly<Record<string, unknown>>,
): MockedProgram => {
  const resource = (kind: string, name: string): MockedResource => {
    const own = resources.filter(({ type }) => type === kind || type.endsWith(`:${kind}`));
    const found = own.find((each) => each.name === name);
    if (found) return found;
    const names = own.map((each) => JSON.stringify(each.name)).join(", ");
    const declared = `It declares these resources of this kind: ${names || "none"}.`;
    const missing = `The program declares no ${kind} ${JSON.stringify(name)}. ${declared}`;
    throw createAssertionError([missing], "resource");
  };
  return {
    resources,
    outputs,
    resource,
    expectResource: (kind, name, expected) => {
      const found = resource(kind, name);
      const different = findMismatches(expected, found.inputs);
      if (different.length === 0) return found;
      const lines = different.map((each) => `  ${describeMismatch(each)}`);
      const title = `${kind} ${name} differs from the expected properties:`;
      throw createAssertionError([title, ...lines], "expectResource");
    },
  };
};

/** The values of outputs. `apply` would wait for ever for one that fails. @throws what it failed with */
const resolveOutputs = async (outputs: JsonObject): Promise<unknown> => {
  const all = pulumi.output<JsonObject>(outputs);
  const promise: unknown = Reflect.get(all, "promise");
  return typeof promise === "function" ? promise.call(all) : undefined;
};

let earlier: Promise<unknown> = Promise.resolve();

/**
 * Runs a program without Pulumi's engine or a service, for unit tests that take milliseconds.
 * Checks everything that the program declares, as a preview does. Pulumi's mocks apply to the whole
 * process, so each run waits for the previous one.
 *
 * @param program declares resources and may return outputs. Load a module that declares them at the
 * top level: `() => import("./my-program.js")`
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
  const outputs = isObject(given) ? await resolveOutputs({ ...given }) : {};
  await pulumi.runtime.disconnect();
  const lines = mocks.failures.map((line) => `  ${line}`);
  if (lines.length > 0)
    throw createAssertionError(["A preview would reject the program:", ...lines], "runMocked");
  return createProgram(mocks.registered, isObject(outputs) ? outputs : {});
};
