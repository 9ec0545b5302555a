/* Loaded first into the Node.js processes of a test's Pulumi, hundreds of which have a few lines of JavaScript to run.
   Pulumi always prepares to compile TypeScript: a tenth of the time of such a run, and seconds where it checks types. */

const [, script = ""] = process.argv;

if (/[\\/]cmd[\\/]run(?:[\\/]index\.js)?$/.test(script)) {
  if (process.argv.at(-1)?.endsWith(".js")) delete process.env.PULUMI_NODEJS_TYPESCRIPT;
  // What is to compile is compiled by its test, once.
  process.env.PULUMI_NODEJS_TRANSPILE_ONLY = "true";
}

export {};
