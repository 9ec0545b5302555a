import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProbe } from "../../cli/probe/run-probe.js";
import { findingsIn } from "../../provider/service/settings.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";
import { recordedSession } from "./session.js";
import { temporaryFolder } from "./temporary-folder.js";

const collections = [
  "authentications",
  "clientapplications",
  "participants",
  "channels",
  "orchestrations",
  "accounts",
];

const left = (service: StrictService): unknown[] =>
  collections.flatMap((collection) => service.objects(collection));

test("a service that shares no code with the emulator is found out, and left as it was", async () => {
  const service = await startStrictService();
  onTestFinished(() => service.close());
  const folder = temporaryFolder();
  const env = { ...service.environment, XDG_CACHE_HOME: folder };
  const { session } = recordedSession();
  const options = { out: join(folder, "f.json"), yes: true, burst: false } as const;
  const { value } = await runProbe(options, session, { env, folder });
  expect(findingsIn(JSON.stringify(value))?.switches).toEqual({
    channelRule: "account",
    duplicateStatus: 400,
    forms: "given",
    inUseStatus: 400,
    pageSize: 5,
    paging: "pages",
    put: "replace",
    secrets: "mask",
    staleModified: "ignore",
    tokenLifetime: 3600,
    unknownFields: "keep",
    unknownQuery: "ignore",
    unknownReference: "accept",
  });
  expect(left(service)).toEqual([]);
});
