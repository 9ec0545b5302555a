import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formerExport, stagingName, writeExport } from "../../../cli/export/export-folder.js";
import { temporaryFolder } from "../temporary-folder.js";
import { exportSandbox } from "./exported.js";

test("is refused where somebody else's files are in it, before anything is read", async () => {
  const hub = await exportSandbox();
  writeFileSync(join(hub.folder, "elsewhere", "notes.txt"), "mine");
  await expect(hub.export({ out: "elsewhere" })).rejects.toThrow(/is not empty/);
  expect(await hub.control.log()).toEqual([]);
});

test("keeps the configuration that was set since, and loses what is no longer written", async () => {
  const hub = await exportSandbox();
  await hub.export({ split: "by-kind" });
  const config = join(hub.folder, "shop", "Pulumi.prod.yaml");
  writeFileSync(config, "config:\n  shop:secret: v1:abc\n");
  const { kept } = await hub.export();
  expect(kept).toEqual(["Pulumi.prod.yaml"]);
  expect(hub.files()["Pulumi.prod.yaml"]).toContain("v1:abc");
  expect(hub.files()["accounts.ts"]).toBeUndefined();
});

test("is refused where a written file was edited; a file that was removed is written again", async () => {
  const hub = await exportSandbox();
  await hub.export();
  const index = join(hub.folder, "shop", "index.ts");
  writeFileSync(index, "// mine\n");
  await expect(hub.export()).rejects.toThrow(/index\.ts .* changed since the last export/);
  expect(hub.files()["index.ts"]).toBe("// mine\n");
  rmSync(index);
  await hub.export();
  expect(hub.files()["index.ts"]).toContain("new Account");
});

test.runIf(process.platform === "linux")(
  "a place where no folder can be made is refused, and the export ends",
  async () => {
    const hub = await exportSandbox();
    for (const out of ["/proc/none", "/proc/none/below/it", "/dev/fd/none"])
      await expect(hub.export({ out })).rejects.toThrow(
        // Whoever is not root is refused before the first folder.
        /Writing the export to .* failed: ENOENT.*Nothing was changed|cannot be written: EACCES/,
      );
  },
);

const one = new Map([["index.ts", "one"]]);
const two = new Map([["index.ts", "two"]]);

test("a file that cannot be written leaves nothing half done: neither files nor a new folder", () => {
  const folder = temporaryFolder();
  const broken = new Map([...two, ["no-such-folder/index.ts", "two"]]);
  const fresh = join(folder, "a", "b");
  expect(() => writeExport(fresh, broken, "own", undefined)).toThrow(
    /Writing the export to .* failed: .*ENOENT.*Nothing was changed/,
  );
  expect(readdirSync(folder)).toEqual([]);
  writeExport(folder, one, "own", undefined);
  expect(() => writeExport(folder, broken, "own", formerExport(folder))).toThrow(
    /Nothing was changed/,
  );
  expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe("one");
  expect(readdirSync(folder).toSorted()).toEqual([".conversation-export.json", "index.ts"]);
});

test("an export that was killed while it wrote is completed by the next one", () => {
  const folder = temporaryFolder();
  writeExport(folder, one, "own", undefined);
  writeFileSync(join(folder, "index.ts"), "two");
  expect(writeExport(folder, two, "own", formerExport(folder))).toEqual([]);
  expect(formerExport(folder)?.files).not.toEqual({});
  writeFileSync(join(folder, "index.ts"), "edited");
  expect(() => writeExport(folder, one, "own", formerExport(folder))).toThrow(/index\.ts/);
});

test("of two exports at once one is refused, and neither mixes its files into the other's", () => {
  const folder = temporaryFolder();
  const staging = join(folder, stagingName);
  mkdirSync(staging);
  expect(() => writeExport(folder, one, "own", undefined)).toThrow(/Another export writes/);
  const longAgo = new Date(Date.now() - 120_000);
  utimesSync(staging, longAgo, longAgo);
  writeExport(folder, one, "own", undefined);
  // Both looked at the folder when it was empty.
  expect(() => writeExport(folder, two, "own", undefined)).toThrow(/has written .* meanwhile/);
  expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe("one");
});

test("a file in the place of the folder is refused before anything is read", async () => {
  const hub = await exportSandbox();
  writeFileSync(join(hub.folder, "taken"), "mine");
  await expect(hub.export({ out: "taken" })).rejects.toThrow(/is a file, and no folder/);
  await expect(hub.export({ out: "taken/below" })).rejects.toThrow(/is a file, and no folder/);
  expect(await hub.control.log()).toEqual([]);
});
