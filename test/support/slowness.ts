import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Every 100 ms a piece of work of 10 ms; at the end how long it took from when it was due, for each millisecond of work. */
const worker = `
let [due, took, worked] = [performance.now() + 100, 0, 0];
const work = () => {
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system < 10_000) continue;
    worked += (user + system) / 1000;
    break;
  }
  took += performance.now() - due;
  due = performance.now() + 100;
  setTimeout(work, 100);
};
setTimeout(work, 100);
process.stdin.resume().on("end", () => {
  console.log(worked === 0 ? 1 : took / worked);
  process.exit();
});`;

/**
 * Does something, and measures meanwhile how slow this machine is for a process that mostly waits: 1 on one
 * at rest, 3 where such a process takes three times as long. Limits of real time are multiplied by it.
 */
export const withSlowness = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly slowness: number }> => {
  const child = spawn(process.execPath, ["-e", worker], { stdio: ["pipe", "pipe", "inherit"] });
  const measured = text(child.stdout);
  try {
    const result = await work();
    child.stdin.end();
    return { result, slowness: Math.max(1, Number(await measured)) };
  } finally {
    child.kill();
  }
};
