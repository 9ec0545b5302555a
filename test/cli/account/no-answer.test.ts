import { createServer } from "node:net";
import { expect, test } from "vitest";
import { accessService } from "../../../cli/account/open-account.js";
import { readAccount } from "../../../cli/account/read-account.js";
import { explainSetUp } from "../../../cli/explain/explain-command.js";
import { progressOn } from "../../../cli/terminal/progress.js";
import { readSettings } from "../../../provider/service/settings.js";

/** Settings of a service that is not there. */
const isolatedEnvironment = async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  await new Promise((done) => server.close(done));
  const origin = `http://127.0.0.1:${port}`;
  return {
    CONVERSATION_BASE_URL: `${origin}/conversation/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/token`,
    CONVERSATION_CLIENT_ID: "client",
    CONVERSATION_CLIENT_SECRET: "not-a-real-secret",
    CONVERSATION_BURST: "1000",
  };
};

const refusal =
  /no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\).* Trying again, for up to 1[5-9] s\.$/;

test("a service that does not answer is told at once, and once for all calls", async () => {
  const settings = readSettings({
    environment: await isolatedEnvironment(),
    config: () => undefined,
  });
  const ended = new AbortController();
  const told: (readonly string[])[] = [];
  const say = (text: string, about: string): void => {
    told.push([text, about]);
    setImmediate(() => ended.abort());
  };
  const access = accessService(settings, { environment: {}, say, signal: ended.signal });
  await expect(readAccount(access, { signal: ended.signal })).rejects.toThrow(/cancelled/);
  await access.close();
  expect(told).toEqual([[expect.stringMatching(refusal), "failure"]]);
});

test("without a terminal, too: in a line of its own", async () => {
  const env = { ...(await isolatedEnvironment()), PATH: "/nowhere" };
  const ended = new AbortController();
  let written = "";
  const progress = progressOn({
    write: (text) => {
      written += text;
      if (written.includes("Trying again")) setImmediate(() => ended.abort());
    },
  });
  await expect(explainSetUp({ env, progress, signal: ended.signal })).rejects.toThrow(/cancelled/);
  const lines = written.split("\n").filter((line) => line !== "");
  expect(lines).toEqual([
    "Reading the account …",
    expect.stringMatching(refusal),
    expect.stringMatching(/^✗ Reading the account/),
  ]);
});
