import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { scopes } from "../support/specification.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { kindOf, Running } from "./running.js";

const fileIn = (): string => join(temporaryFolder(), "emulator.json");

const once = async <T>(options: EmulatorOptions, use: (service: Running) => Promise<T>) => {
  await using service = new Running(await startEmulator({ clock: "manual", ...options }));
  return await use(service);
};

const channel = kindOf("Channel");

test("objects, clients and switches are there again; a switch that is given wins", async () => {
  const data = fileIn();
  const client = { clientId: "emulator", clientSecret: "new", scopes: Object.values(scopes) };
  const id = await once({ data }, async (service) => {
    const made = await service.make(channel);
    await service.control("POST", "/clients", client);
    await service.control("PUT", "/switches", { put: "keep", deliveryRetries: 7 });
    return made;
  });
  await once({ data, switches: { deliveryRetries: 1 } }, async (service) => {
    expect(service.emulator.clientSecret).toBe("new");
    expect((await service.call("GET", `/channels/${id}`)).status).toBe(200);
    expect(await service.emulator.control.switches()).toMatchObject({
      ...{ put: "keep", deliveryRetries: 1 },
    });
  });
});

test("a change is in the file soon, for nobody but the owner", async () => {
  const data = fileIn();
  writeFileSync(data, "");
  chmodSync(data, 0o644);
  await once({ data }, async (service) => {
    const id = await service.make(channel);
    await expect.poll(() => readFileSync(data, "utf8")).toContain(id);
    expect(readdirSync(dirname(data))).toEqual(["emulator.json"]);
    expect(statSync(data).mode & 0o777).toBe(0o600);
  });
});

test("a file that another process has replaced is left to it", async () => {
  const data = fileIn();
  const emulator = await startEmulator({ data });
  await once({ data }, async (service) => {
    await service.make(channel);
  });
  const others = readFileSync(data, "utf8");
  await expect(emulator.close()).rejects.toThrow(
    `Could not use the data file ${data}: another process has replaced it. Choose another file.`,
  );
  expect(readFileSync(data, "utf8")).toBe(others);
});

test("a failure to write is a warning, and the next change is written again", async () => {
  const data = join(temporaryFolder(), "inner", "emulator.json");
  const folder = dirname(data);
  mkdirSync(folder);
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  await once({ data }, async (service) => {
    renameSync(folder, `${folder}-away`);
    await service.make(channel);
    await expect.poll(() => warned.join()).toContain(`Could not use the data file ${data}: ENOENT`);
    renameSync(`${folder}-away`, folder);
    const id = await service.make(channel);
    await expect.poll(() => readFileSync(data, "utf8")).toContain(id);
  });
});

test.each([
  ["a text", "my notes", "it is not an emulator data file"],
  ["half of a snapshot", '{"version":1', "it is not an emulator data file"],
  ["a newer snapshot", '{"version":2,"objects":{}}', "version: Invalid input: expected 1"],
])("%s is refused as a data file, and stays as it is", async (_, text, reason) => {
  const data = fileIn();
  writeFileSync(data, text);
  const starting = startEmulator({ data });
  await expect(starting).rejects.toThrow(`Could not use the data file ${data}: `);
  await expect(starting).rejects.toThrow(reason);
  await expect(starting).rejects.not.toThrow("notes");
  expect(readFileSync(data, "utf8")).toBe(text);
});

test("what is no file is refused at once, and keeps its mode", async () => {
  const pipe = fileIn();
  execFileSync("mkfifo", ["-m", "644", pipe]);
  for (const path of [pipe, "/dev/null", dirname(pipe)])
    await expect(startEmulator({ data: path })).rejects.toThrow("it is not a regular file");
  expect(statSync(pipe).mode & 0o777).toBe(0o644);
  expect(existsSync(pipe)).toBe(true);
});
