import Module, { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";

/**
 * For processes that stand beside others and live for one run: garbage is collected once a third has come
 * to what is in use, not when it has doubled, and the young generation does not grow.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString("--heap-growing-percent=30");
  setFlagsFromString("--semi-space-growth-factor=1");
};

/* Loaded into the Node.js processes of a run on a copy before all else (`node --require`). Several of them
   stand beside each other; measured with a thousand resources: 10 to 15 % of a rehearsal's processor time less,
   and a quarter of its memory. With few resources starting is what takes time: a sixth to a fifth less. */

const pulumiProcess =
  /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/](?:run|dynamic-provider)(?:[\\/]index\.js)?$/;
const leakDetector = /[\\/]@pulumi[\\/]pulumi[\\/]runtime[\\/]debuggable\.js$/;

type PrepareStackTrace = NonNullable<typeof Error.prepareStackTrace>;

/**
 * Pulumi's SDK asks for a stack trace for each promise that it makes, in case that it has to print it, and
 * the compiler of TypeScript programs looks up the source of each line of it. The traces of errors stay.
 */
const leaveOutTracesOfPromises = (): void => {
  let prepare: PrepareStackTrace | undefined;
  Object.defineProperty(Error, "prepareStackTrace", {
    configurable: true,
    get: () => prepare,
    set(given: PrepareStackTrace | undefined) {
      prepare =
        typeof given === "function"
          ? (error, sites) =>
              leakDetector.test(sites[0]?.getFileName() ?? "") ? "" : given(error, sites)
          : given;
    },
  });
};

/**
 * Pulumi's SDK always loads the resolver of npm packages, hundreds of modules, and asks it only for the files
 * that a function for a cloud needs.
 */
const loadPackageResolverOnDemand = (script: string): void => {
  const require = createRequire(script);
  let path: string;
  try {
    path = require.resolve("@npmcli/arborist");
  } catch {
    return; // Another release of the SDK: there is nothing to leave out.
  }
  const standIn = new Module(path);
  const load = (): typeof Object => {
    if (require.cache[path] === standIn) delete require.cache[path];
    return require(path);
  };
  // A constructor with members, as the real one; said to be an ES module, it is not copied when imported.
  standIn.exports = new Proxy(Object.bind(undefined), {
    get: (_, name) => name === "__esModule" || Reflect.get(load(), name),
    construct: (_, args) => Reflect.construct(load(), args),
  });
  standIn.loaded = true;
  require.cache[path] = standIn;
};

const [, script = ""] = process.argv;

if (pulumiProcess.test(script)) {
  keepHeapSmall();
  loadPackageResolverOnDemand(script);
  if (!process.env.PULUMI_DEBUG_PROMISE_LEAKS) leaveOutTracesOfPromises();
}
