import { join } from "node:path";
import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { kindOf, running } from "../emulator/running.js";
import { leakingFiles, secretsIn } from "../support/left-behind.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const password = "kept-hush";
const clientSecret = "client-hush";

const basic = { type: "basic", oauth2: undefined, basicAuth: { username: "u", password } };

test("snapshot and data file keep secrets and credentials as they are, but no token; reports keep none", async () => {
  const folder = temporaryFolder();
  const service = await running({ data: join(folder, "emulator.json") });
  for (const definition of resources) await service.make(definition);
  await service.make(kindOf("Authentication"), basic);
  const client = { clientId: "robot", clientSecret, scopes: [] };
  await service.control("POST", "/clients", client);
  const token = await service.token();
  const kept = [password, clientSecret];
  const snapshot = (await service.control("GET", "/snapshot")).text;
  expect(secretsIn(snapshot, [...kept, token])).toEqual(kept);
  for (const secret of kept)
    await expect.poll(() => leakingFiles(folder, [secret])).not.toEqual([]);
  expect(leakingFiles(folder, [token])).toEqual([]);
  for (const path of ["/log", "/stats", "/faults", "/deliveries", "/switches"]) {
    const { text } = await service.control("GET", path);
    expect(secretsIn(text, [...kept, token]), path).toEqual([]);
  }
});
