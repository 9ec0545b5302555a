import Module, { createRequire } from "node:module";
import "./process-violations.js";

/* Loaded first into the Node.js processes of a test's Pulumi, hundreds of which have a few lines of JavaScript to run.
   Pulumi always prepares to compile TypeScript, to pack code, to trace and to translate stacks: half of the time of
   such a run, and seconds where it checks types. */

const [, script = ""] = process.argv;
const isProgram = /[\\/]cmd[\\/]run(?:[\\/]index\.js)?$/.test(script);
const isProvider = /[\\/]cmd[\\/]dynamic-provider(?:[\\/]index\.js)?$/.test(script);
const isJavaScript = isProgram && process.argv.at(-1)?.endsWith(".js");

const isPulumis = isProgram || isProvider;
const ofPulumi = createRequire(
  isPulumis ? `${script.replace(/[\\/]index\.js$/, "")}/index.js` : __filename,
);

const unused = ["normalize-package-data", "../../automation"];
const tracing = [
  ...["exporter-zipkin", "instrumentation", "instrumentation-grpc", "resources"],
  ...["sdk-trace-base", "sdk-trace-node"],
];

/** Has `require` find these exports where it would load a module. */
const standInFor = (name: string, exports: unknown): void => {
  const path = ofPulumi.resolve(name);
  require.cache[path] = Object.assign(new Module(path), { exports, loaded: true });
};

/** Has a module loaded only when something of it is asked for, beside what is given here. */
const loadLate = (name: string, given: Readonly<Record<string, unknown>> = {}): void => {
  const path = ofPulumi.resolve(name);
  let loaded: Readonly<Record<string | symbol, unknown>> | undefined;
  const load = () => {
    if (!loaded) delete require.cache[path];
    loaded ??= ofPulumi(name) as Readonly<Record<string | symbol, unknown>>;
    return loaded;
  };
  const get = (_: unknown, key: string | symbol) => key === "__esModule" || load()[key];
  const own = (_: unknown, key: string | symbol) =>
    typeof key === "string" && key in given ? given[key] : get(_, key);
  standInFor(name, new Proxy({}, { get: own }));
};

if (isProgram) {
  if (isJavaScript) delete process.env.PULUMI_NODEJS_TYPESCRIPT;
  // What is to compile is compiled by its test, once.
  process.env.PULUMI_NODEJS_TRANSPILE_ONLY = "true";
}
if (isPulumis) {
  for (const name of unused) loadLate(name);
  standInFor("source-map-support/register", {});
}
if (isProvider || isJavaScript) loadLate("typescript");
// A debugger that hears of every script, for the code of functions that a program has stored.
if (isJavaScript)
  loadLate("../../runtime/closure/v8Hooks", { isInitializedAsync: async () => undefined });
if (isProgram && !process.env.TRACEPARENT && !process.argv.includes("--tracing"))
  for (const name of tracing) standInFor(`@opentelemetry/${name}`, {});
