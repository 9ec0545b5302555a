import Module, { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { isObject } from "../kernel/json.js";

/**
 * Sets Node.js options for short-lived processes that run in parallel. The garbage collector runs
 * once the memory in use has grown by 30%, rather than once it has doubled. The young generation
 * does not grow.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString("--heap-growing-percent=30");
  setFlagsFromString("--semi-space-growth-factor=1");
};

/* Loaded first into the Node.js processes of a run on a copy (`node --require`). Several of them run in
   parallel; measured with a thousand resources, a program needs a third less processor time, and a
   quarter less memory. With few resources the start takes most of the time: a third less. */

const pulumiProcess =
  /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/](?:run|dynamic-provider)(?:[\\/]index\.js)?$/;
const ofSdk = /[\\/]@pulumi[\\/]pulumi[\\/](?:log[\\/]index|runtime[\\/]debuggable|resource)\.js$/;

const withoutTrace =
  (work: CallableFunction) =>
  (...given: readonly unknown[]): unknown => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return Reflect.apply(work, undefined, given);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };

/**
 * Omits the debugging aids of Pulumi's SDK: it sends the engine three debug messages for each
 * resource, and takes a stack trace for each promise, and two for each resource. The traces of
 * errors stay.
 */
const leaveOutDebugging = (): void => {
  for (const [path, loaded] of Object.entries(require.cache)) {
    const members: unknown = loaded?.exports;
    if (!ofSdk.test(path) || !isObject(members)) continue;
    const { debug, debuggablePromise, Resource } = members;
    if (typeof debug === "function") Reflect.set(members, "debug", () => Promise.resolve());
    if (typeof debuggablePromise === "function")
      Reflect.set(members, "debuggablePromise", withoutTrace(debuggablePromise));
    if (typeof Resource === "function") Reflect.set(Resource, "callsites", () => []);
  }
};

/** A module that takes the place of another one until something of that is used. */
interface StandIn {
  /** As the process's script would name it. */
  readonly request: string;
  /** Whether the SDK imports it as an ES module, or as one with a default export: what is none. */
  readonly isEsModule: boolean;
  /** Members that it has without the module. */
  readonly own?: Readonly<Record<string, unknown>>;
}

/** A span of a trace that nobody asked for. */
const noSpan = { end: () => undefined, addEvent: () => noSpan, setAttribute: () => noSpan };

/** What the SDK begins for every program, and only a run with `--tracing` needs. */
const untraced = { newSpan: () => noSpan };

/**
 * What Pulumi's SDK always loads, hundreds of modules and the compiler of TypeScript, and uses only for
 * cloud functions made of a program's functions, programs that run Pulumi themselves, and traces.
 */
const rarelyUsed: readonly StandIn[] = [
  { request: "@npmcli/arborist", isEsModule: true },
  { request: "normalize-package-data", isEsModule: false },
  { request: "@pulumi/pulumi/typescript-shim", isEsModule: true },
  { request: "@pulumi/pulumi/automation", isEsModule: true },
  ...(process.argv.some((argument) => argument.startsWith("--tracing"))
    ? []
    : [{ request: "@pulumi/pulumi/cmd/run/tracing", isEsModule: true, own: untraced }]),
];

const loadOnDemand = (script: string, { request, isEsModule, own = {} }: StandIn): void => {
  const require = createRequire(script);
  let path: string;
  try {
    path = require.resolve(request);
  } catch {
    return; // Another release of the SDK: there is nothing to omit.
  }
  const standIn = new Module(path);
  const load = (): typeof Object => {
    if (require.cache[path] === standIn) delete require.cache[path];
    return require(path);
  };
  // A constructor with members, like one of them; marked as an ES module, so that an import does
  // not copy it.
  standIn.exports = new Proxy(Object.bind(undefined), {
    get: (_, name) => {
      if (name === "__esModule") return isEsModule;
      return Reflect.get(Object.hasOwn(own, name) ? own : load(), name);
    },
    has: (_, name) => Reflect.has(load(), name),
    ownKeys: () => Reflect.ownKeys(load()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(load(), name);
      // What the stand-in itself has not must not be said to be fixed.
      return found && { ...found, configurable: true };
    },
    apply: (_, self, args) => Reflect.apply(load(), self, args),
    construct: (_, args) => Reflect.construct(load(), args),
  });
  standIn.loaded = true;
  require.cache[path] = standIn;
};

const [, script = ""] = process.argv;

if (pulumiProcess.test(script)) {
  // Fewer collections than in a long-lived process: a program's promises are released together.
  setFlagsFromString("--heap-growing-percent=60");
  for (const each of rarelyUsed) loadOnDemand(script, each);
  // After the SDK is loaded, and before it loads a program.
  if (!process.env.PULUMI_DEBUG_PROMISE_LEAKS) process.nextTick(leaveOutDebugging);
}
