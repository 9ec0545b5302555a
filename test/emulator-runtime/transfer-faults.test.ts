import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { order } from "./asset-calls.js";
import { type Hub, hub } from "./hub.js";

const content = "0123456789".repeat(20);

/** An asset whose content is on its way, and what the signed addresses answer. */
const asset = async ({ service }: Hub) => {
  const body = order({ size: content.length });
  const { id, contentUrl } = (await service.call("POST", "/assets", body)).json;
  const upload = () =>
    service.send("POST", String(contentUrl), {
      raw: content,
      headers: { "content-type": "image/png" },
    });
  const isThere = async () => (await service.call("GET", `/assets/${id}`)).status === 200;
  const download = async () => {
    const { json } = await service.call("GET", `/assets/${id}`);
    return service.send("GET", String(json.contentUrl));
  };
  return { upload, download, isThere };
};

const fails = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    () => true,
  );

test.each<[JsonObject, boolean, number | "cut"]>([
  [{ kind: "status", status: 503 }, false, 503],
  [{ kind: "drop-before-commit" }, false, "cut"],
  [{ kind: "delay", ms: 5 }, true, 200],
  [{ kind: "status-after-commit", status: 500 }, true, 500],
  [{ kind: "drop-after-commit" }, true, "cut"],
])("an upload with %j: the content is kept: %s, the answer %s", async (rule, isKept, answer) => {
  const all = await hub();
  const { upload, isThere } = await asset(all);
  await all.service.control("POST", "/faults", { on: "UPLOAD", ...rule });
  if (answer === "cut") expect(await fails(upload())).toBe(true);
  else expect((await upload()).status).toBe(answer);
  expect(await isThere()).toBe(isKept);
  expect((await all.service.control("GET", "/faults")).text).toBe("[]");
});

test.each<[JsonObject, number | "cut"]>([
  [{ kind: "status", status: 403 }, 403],
  [{ kind: "drop-before-commit" }, "cut"],
  [{ kind: "truncate" }, "cut"],
  [{ kind: "status-after-commit", status: 502 }, 502],
  [{ kind: "not-json" }, 200],
])("a download with %j: %s, and the next one is whole", async (rule, answer) => {
  const all = await hub();
  const { upload, download } = await asset(all);
  expect((await upload()).status).toBe(200);
  await all.service.control("POST", "/faults", { on: "DOWNLOAD", ...rule });
  if (answer === "cut") expect(await fails(download())).toBe(true);
  else {
    const spoiled = await download();
    expect(spoiled.status).toBe(answer);
    expect(spoiled.text).not.toBe(content);
  }
  expect((await download()).text).toBe(content);
});

test.each<[JsonObject, number, unknown]>([
  [{ kind: "status", status: 503 }, 1, 503],
  [{ kind: "status-after-commit", status: 500 }, 2, 500],
  [{ kind: "drop-before-commit" }, 1, "ECONNRESET"],
  [{ kind: "drop-after-commit" }, 2, "ECONNRESET"],
  [{ kind: "hang" }, 1, "no response within 5000 ms"],
])(
  "a callback with %j: it is called %s times in all, and the message is tried again",
  async (rule, calls, outcome) => {
    const all = await hub();
    await all.service.control("POST", "/faults", { on: "CALLBACK", ...rule });
    await all.begin();
    await all.logged(1);
    all.service.emulator.advance(1_000);
    const log = await all.logged(2);
    expect(log.map(({ status, error }) => status ?? error)).toEqual([outcome, 200]);
    expect(all.bot.messageIds).toEqual(Array.from({ length: calls }, () => "m-0001"));
  },
);

test.each(["truncate", "not-json", "drip"])("%s is not for callbacks", async (kind) => {
  const { service } = await hub();
  const reply = await service.control("POST", "/faults", { on: "CALLBACK", kind });
  expect([reply.status, reply.json.error]).toEqual([
    400,
    expect.stringContaining("cannot apply to callbacks"),
  ]);
});
