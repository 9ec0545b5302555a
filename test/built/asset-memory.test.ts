import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "pulumi-conversation/emulator";
import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";

const megabyte = 1024 * 1024;
const mostAboveIdle = 64 * megabyte;

/** A process of its own, so that nothing but the client and its content counts. */
const program = `
const { Readable } = require("node:stream");
const { createHash } = require("node:crypto");
const { connect } = require(process.argv[1]);
const target = process.argv[2];
const piece = (n) => Buffer.alloc(65536, n % 251);
const pieces = function* () { for (let n = 0; n < 160; n += 1) yield piece(n); };
const main = async () => {
  const hub = connect({}, { pacing: "after-refusal" });
  const { id } = await hub.assets.upload(Buffer.from("warm"), { channel: "custom.web", sender: "customer", name: "warm.txt" });
  await hub.assets.download(id);
  global.gc();
  const idle = process.memoryUsage.rss();
  let most = idle;
  const watch = () => { most = Math.max(most, process.memoryUsage.rss()); };
  const hash = createHash("sha256");
  const watched = function* () { for (const each of pieces()) { watch(); hash.update(each); yield each; } };
  const options = { channel: "custom.web", sender: "customer", name: "large.txt", size: 10485760 };
  const asset = await hub.assets.upload(Readable.from(watched()), options);
  await hub.assets.download(asset.id, target, { onProgress: watch });
  watch();
  await hub.close();
  console.log(JSON.stringify({ aboveIdle: most - idle, sha256: hash.digest("hex") }));
};
main();
`;

/** An asset belongs to a channel that is there. */
const plantChannel = async (controlUrl: string): Promise<void> => {
  const before = JSON.parse(await (await fetch(`${controlUrl}/snapshot`)).text());
  const now = new Date().toISOString();
  const channel = {
    id: "web",
    created: now,
    modified: now,
    type: "custom.web",
    displayName: "Web",
    icon: "aa",
  };
  const objects = { ...before.objects, channels: [channel] };
  const body = JSON.stringify({ ...before, objects });
  const { ok } = await fetch(`${controlUrl}/snapshot`, { method: "PUT", body });
  if (!ok) throw new Error("the channel was not taken");
};

test("ten MiB go up and come down with at most 64 MiB above idle, bytes equal", async () => {
  const folder = mkdtempSync(join(tmpdir(), "asset-memory-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  await plantChannel(emulator.controlUrl);
  const env = { PATH: process.env.PATH, ...emulatorEnvironment(emulator) };
  const runtime = join(__dirname, "..", "..", "dist", "sdk", "runtime", "index.js");
  const target = join(folder, "large.txt");
  const output = await new Promise<string>((resolve, reject) => {
    const args = ["--expose-gc", "-e", program, runtime, target];
    execFile(process.execPath, args, { env }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  const { aboveIdle, sha256 } = JSON.parse(output) as { aboveIdle: number; sha256: string };
  console.log(`${(aboveIdle / megabyte).toFixed(1)} MiB above idle`);
  expect(createHash("sha256").update(readFileSync(target)).digest("hex")).toBe(sha256);
  expect(aboveIdle).toBeLessThanOrEqual(mostAboveIdle);
});
