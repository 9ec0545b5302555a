import { execFileSync } from "node:child_process";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { resources } from "../../provider/resources/index.js";
import { scopes } from "../support/specification.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { kindOf, Running } from "./running.js";

const fileIn = (): string => join(temporaryFolder(), "objects.db");

/** One life of an emulator. */
const once = async <T>(options: EmulatorOptions, use: (service: Running) => Promise<T>) => {
  await using service = new Running(await startEmulator({ clock: "manual", ...options }));
  return await use(service);
};

const change = (file: string, sql: string): void => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

test("the emulator's own client stays as it was put anew", async () => {
  const data = fileIn();
  const client = { clientId: "emulator", clientSecret: "new", scopes: Object.values(scopes) };
  await once({ data }, (service) => service.control("POST", "/clients", client));
  await once({ data }, async (service) => {
    expect(service.emulator.clientSecret).toBe("new");
    expect((await service.call("GET", "/channels")).status).toBe(200);
  });
});

test("two emulators cannot use one file at once: the second names it", async () => {
  const data = fileIn();
  await once({ data }, async () => {
    await expect(startEmulator({ data })).rejects.toThrow(
      `Could not use the data file ${data}: database is locked. Choose another file, or stop the emulator that uses this one.`,
    );
  });
  await once({ data }, async (service) =>
    expect((await service.call("GET", "/channels")).status).toBe(200),
  );
});

test.each([
  ["a client", "'{\"clientId\":5}' WHERE section = 'client'"],
  ["an object", "'{\"id\":5}' WHERE section = 'object channels'"],
  ["a switch", "'\"sometimes\"' WHERE section = 'switch'"],
  ["what is no JSON", "'hush' WHERE section = 'client'"],
])("a bad row is an error that names the file, and lets go of it: %s", async (_, row) => {
  const data = fileIn();
  await once({ data }, async (service) => {
    await service.make(kindOf("Channel"));
    await service.control("PUT", "/switches", { put: "keep" });
  });
  change(data, `UPDATE documents SET value = ${row}`);
  const starting = startEmulator({ data });
  await expect(starting).rejects.toThrow(`Could not use the data file ${data}`);
  await expect(starting).rejects.not.toThrow("hush");
  change(data, "DELETE FROM documents");
  await once({ data }, async (service) =>
    expect((await service.call("GET", "/channels")).status).toBe(200),
  );
});

test("a port that is taken gives the data file back", async () => {
  const data = fileIn();
  await once({}, async ({ emulator }) => {
    const port = Number(new URL(emulator.baseUrl).port);
    await expect(startEmulator({ data, port })).rejects.toThrow("EADDRINUSE");
  });
  await once({ data }, async (service) =>
    expect((await service.call("GET", "/channels")).status).toBe(200),
  );
});

test("nobody but the owner can read the data file and what stands beside it", async () => {
  const data = fileIn();
  const modes = () =>
    readdirSync(dirname(data)).map((name) => statSync(join(dirname(data), name)).mode & 0o777);
  await once({ data }, async (service) => {
    await service.make(kindOf("Channel"));
    expect(modes().length).toBeGreaterThan(1);
    expect(new Set(modes())).toEqual(new Set([0o600]));
  });
});

test("a data file that others can read is closed to them", async () => {
  const data = fileIn();
  writeFileSync(data, "");
  chmodSync(data, 0o644);
  await once({ data }, async () => expect(statSync(data).mode & 0o777).toBe(0o600));
});

const stateOf = (file: string) => ({
  mode: statSync(file).mode & 0o777,
  text: readFileSync(file, "latin1"),
  beside: readdirSync(dirname(file)),
});

test.each<[string, (file: string) => void, string]>([
  ["a text", (file) => writeFileSync(file, "my notes"), "it is not an emulator data file"],
  ["a long text", (file) => writeFileSync(file, "my notes".repeat(99)), "file is not a database"],
  ["one byte", (file) => writeFileSync(file, "S"), "it is not an emulator data file"],
  [
    "somebody's database",
    (file) => change(file, "CREATE TABLE users (name)"),
    "it is another application's database",
  ],
  [
    "somebody's database with a log of its own",
    (file) => change(file, "PRAGMA journal_mode = WAL; CREATE TABLE users (name)"),
    "it is another application's database",
  ],
  [
    "the data of a newer emulator",
    (file) => change(file, "CREATE TABLE documents (later); PRAGMA user_version = 2"),
    "it is from a newer version of the emulator",
  ],
])("%s is refused as a data file, and stays as it is", async (_, make, reason) => {
  const data = fileIn();
  make(data);
  chmodSync(data, 0o644);
  const before = stateOf(data);
  await expect(startEmulator({ data })).rejects.toThrow(
    `Could not use the data file ${data}: ${reason}. Choose another file.`,
  );
  expect(stateOf(data)).toEqual(before);
});

test("what is no file is refused at once, and keeps its mode", async () => {
  const pipe = fileIn();
  execFileSync("mkfifo", ["-m", "644", pipe]);
  await expect(startEmulator({ data: pipe })).rejects.toThrow("it is not a regular file");
  expect(statSync(pipe).mode & 0o777).toBe(0o644);
  const mode = statSync("/dev/null").mode;
  await expect(startEmulator({ data: "/dev/null" })).rejects.toThrow("it is not a regular file");
  expect(statSync("/dev/null").mode).toBe(mode);
  const folder = dirname(pipe);
  await expect(startEmulator({ data: folder })).rejects.toThrow(
    `Could not use the data file ${folder}: it is a folder`,
  );
});

test("a data file that is cut off or spoiled anywhere is used whole, or refused by its name", async () => {
  const data = fileIn();
  await using whole = new Running(await startEmulator({ data, clock: "manual" }));
  for (const definition of resources) await whole.make(definition);
  await whole.emulator.close();
  const good = readFileSync(data);
  const spoiled = fc.record({
    at: fc.nat({ max: good.length - 1 }),
    byte: fc.integer({ min: 0, max: 255 }),
    isCut: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(spoiled, async ({ at, byte, isCut }) => {
      writeFileSync(data, good);
      if (isCut) truncateSync(data, at);
      else writeFileSync(data, Buffer.from(good).fill(byte, at, Math.min(at + 16, good.length)));
      const outcome = await startEmulator({ data }).catch((error: Error) => error);
      if (outcome instanceof Error) {
        expect(outcome.message).toContain(`Could not use the data file ${data}: `);
        return;
      }
      const snapshot = await outcome.control.snapshot().finally(() => outcome.close());
      expect(snapshot.version).toBe(1);
    }),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 40 },
  );
});
