#!/usr/bin/env node
// Nothing is imported before the version is known to be new enough: an older Node could not even load it.
const LEAST_NODE = [22, 19] as const;

const isOldNode = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1]);
};

if (isOldNode(process.versions.node)) {
  console.error(
    `pulumi-conversation needs Node ${LEAST_NODE.join(".")} or newer; this is Node ${process.versions.node}. ` +
      "Install a newer Node (https://nodejs.org/), then try again.",
  );
  process.exitCode = 1;
} else {
  // Whoever read the output has gone, such as `head`: nobody is left to tell anything.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  import("./program.js").then(async ({ runProgram }) => {
    process.exitCode = await runProgram(process.argv.slice(2));
    // A connection that somebody keeps open must not keep the process.
    setTimeout(() => process.exit(), 2000).unref();
  });
}

export {};
