import { writeFileSync } from "node:fs";
import { getCallSites } from "node:util";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

/* Loaded into the process of a program before all else (`node --require`). The engine makes a real update on
   the copy, so Pulumi's SDK has to act as in one; the program is to act as in a preview. All copies of the
   SDK in a process keep their options in one global store, whoever loads them and how. */

/** Names the file that is written as soon as the SDK is seen to read the answer that is given here. */
export const dryRunVariable = "PULUMI_CONVERSATION_DRY_RUN";

const runsPrograms = /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run(?:[\\/]index\.js)?$/;
const partOfSdk = /[\\/]@pulumi[\\/]pulumi[\\/](?!.*[\\/]node_modules[\\/])/;
/** Where the SDK asks for itself. Its other modules ask for a program only, which may give them `isDryRun` to call. */
const runtimeOfSdk = /[\\/]@pulumi[\\/]pulumi[\\/]runtime[\\/][^\\/]+$/;

/** Where the SDK leaves the answer for those who cannot ask this process: its child processes and its workers. */
const answerForOthers = "PULUMI_NODEJS_DRY_RUN";

/** `isDryRun` reads this option: the SDK itself gets the truth from it, everybody else `true`. */
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

/** What registers the hooks of a program, and what a hook answers that is not called in a preview. */
const registering = [
  { name: "registerResourceHook", answer: undefined },
  { name: "registerErrorHook", answer: false },
];

/** The engine calls all hooks, as in an update; those that are not for previews do nothing. */
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
