import { writeFileSync } from "node:fs";
import { getCallSites } from "node:util";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

/* Loaded into the process of a program before everything else (`node --require`). The engine makes
 * a real update on the copy, so Pulumi's SDK has to act accordingly, but the program should act as
 * in a preview. All copies of the SDK in a process keep their options in one global store, however
 * they are loaded. */

/** Names the file that is written as soon as the SDK reads the answer given here. */
export const dryRunVariable = "PULUMI_CONVERSATION_DRY_RUN";

const runsPrograms = /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run(?:[\\/]index\.js)?$/;
const partOfSdk = /[\\/]@pulumi[\\/]pulumi[\\/](?!.*[\\/]node_modules[\\/])/;
/**
 * The modules in which the SDK asks on its own behalf. Its other modules ask only for a program,
 * which may pass them `isDryRun` to call.
 */
const runtimeOfSdk = /[\\/]@pulumi[\\/]pulumi[\\/]runtime[\\/][^\\/]+$/;

/**
 * The variable in which the SDK leaves the answer for its child processes and workers, which cannot
 * ask this process.
 */
const answerForOthers = "PULUMI_NODEJS_DRY_RUN";

/**
 * `isDryRun` reads this option: the SDK itself gets the truth from it, everyone else gets `true`.
 */
const answerDryRun = (options: JsonObject, onRead: () => void): void => {
  let isDryRun = options.dryRun;
  Object.defineProperty(options, "dryRun", {
    enumerable: true,
    get() {
      const [, reader, asking] = getCallSites(3, { sourceMap: false });
      if (!partOfSdk.test(reader?.scriptName ?? "")) return true;
      onRead();
      return runtimeOfSdk.test(asking?.scriptName ?? "") ? isDryRun : true;
    },
    set(value: unknown) {
      isDryRun = value;
    },
  });
};

const isForPreviews = (hook: object): boolean => {
  const options: unknown = Reflect.get(hook, "opts");
  return isObject(options) && options.onDryRun === true;
};

/**
 * The calls that register a program's hooks, and the answer of a hook that previews do not call.
 */
const registering = [
  { name: "registerResourceHook", answer: undefined },
  { name: "registerErrorHook", answer: false },
];

/** The engine calls all hooks, as in an update; hooks that previews do not call do nothing. */
const quietHooks = (server: unknown): unknown => {
  if (!isObject(server)) return server;
  for (const { name, answer } of registering) {
    const register = server[name];
    if (typeof register !== "function") continue;
    Reflect.set(server, name, (hook: object): unknown => {
      const quiet: object = Object.create(hook, { callback: { value: () => answer } });
      return Reflect.apply(register, server, [isForPreviews(hook) ? hook : quiet]);
    });
  }
  return server;
};

const keepHooksQuiet = (store: JsonObject): void => {
  let callbacks: unknown;
  Object.defineProperty(store, "callbacks", {
    enumerable: true,
    get: () => callbacks,
    set(server: unknown) {
      callbacks = quietHooks(server);
    },
  });
};

const showDryRun = (readFile: string): void => {
  let store: unknown;
  let isRead = false;
  const onRead = () => {
    if (!isRead) writeFileSync(readFile, "", { mode: 0o600 });
    isRead = true;
  };
  Object.defineProperty(globalThis, "globalStore", {
    get: () => store,
    set(made: unknown) {
      store = made;
      const settings = isObject(made) ? made.settings : undefined;
      if (!isObject(made) || !isObject(settings) || !isObject(settings.options)) return;
      process.env[answerForOthers] = "true";
      keepHooksQuiet(made);
      answerDryRun(settings.options, onRead);
    },
  });
};

const readFile = process.env[dryRunVariable];
if (readFile && runsPrograms.test(process.argv[1] ?? "")) showDryRun(readFile);
