import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { afterAll, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { Channel } from "../../sdk/index.js";
import { withFileContent } from "../../sdk/resource-class.js";
import { inputsOf, startProgram } from "./registered.js";

const folder = mkdtempSync(join(tmpdir(), "icon-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the icon of a channel may be a file", async () => {
  const file = join(folder, "icon.png");
  writeFileSync(file, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
  const registered = await startProgram();
  const icon = new pulumi.asset.FileAsset(file);
  const web = new Channel("web", { type: "custom.web", displayName: "Web", icon });
  await new Promise((resolve) => web.id.apply(resolve));
  expect(inputsOf(registered, "web").icon).toBe("iVBOR/8=");
});

test("a file that cannot be read is named, with the property", async () => {
  const icon = new pulumi.asset.FileAsset(join(folder, "none.png"));
  const { icon: content } = withFileContent(channel, "web", { icon });
  await expect(content).rejects.toThrow(
    /^Channel "web": icon: the file .*none\.png cannot be read: ENOENT/,
  );
});

test("what is no file stays as it is", () => {
  const args = { icon: "aVZC", displayName: new pulumi.asset.FileAsset("x") };
  expect(withFileContent(channel, "web", args)).toBe(args);
});
