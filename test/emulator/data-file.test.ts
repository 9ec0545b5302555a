import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { kindOf, Running, scopes } from "./running.js";

const fileIn = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "objects.db");
};

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

test("objects, switches and credentials outlive the emulator", async () => {
  const data = fileIn();
  const before = await once({ data }, async (service) => {
    const id = await service.make(kindOf("Channel"));
    await service.control("PUT", "/switches", { pageSize: 7, put: "keep" });
    return { path: `/channels/${id}`, secret: service.emulator.clientSecret };
  });
  await once({ data }, async (service) => {
    expect((await service.call("GET", before.path)).status).toBe(200);
    expect(service.emulator.clientSecret).toBe(before.secret);
    const { json } = await service.control("GET", "/switches");
    expect(json).toMatchObject({ pageSize: 7, put: "keep" });
  });
});

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
      `The data file ${data} cannot be used: database is locked`,
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
  await expect(starting).rejects.toThrow(`The data file ${data} cannot be used`);
  await expect(starting).rejects.not.toThrow("hush");
  change(data, "DELETE FROM documents");
  await once({ data }, async (service) =>
    expect((await service.call("GET", "/channels")).status).toBe(200),
  );
});

test("a file that is no database is an error that names it", async () => {
  const data = tmpdir();
  await expect(startEmulator({ data })).rejects.toThrow(`The data file ${data} cannot be used`);
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
