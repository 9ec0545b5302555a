/* Loaded first into the Node.js processes of a test's Pulumi. It always prepares to compile TypeScript, a tenth of
   the time of a small run; a program whose main file is JavaScript does not need that. */

const [, script = ""] = process.argv;

if (/[\\/]cmd[\\/]run(?:[\\/]index\.js)?$/.test(script) && process.argv.at(-1)?.endsWith(".js"))
  delete process.env.PULUMI_NODEJS_TYPESCRIPT;

export {};
