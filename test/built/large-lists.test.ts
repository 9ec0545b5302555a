import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { exampleProgram } from "../support/small-programs.js";

/** Pages of 7.5 MB, 111 of them, of each kind. */
const [pageBytes, pages] = [7_500_000, 111];
const item = JSON.stringify({
  id: "",
  name: "",
  description: "A stranger's",
  note: "x".repeat(600),
});
const perPage = Math.floor(pageBytes / (item.length + 40));

const pageText = (listKey: string, pagenum: number): string => {
  const items = Array.from({ length: perPage }, (_, at) => {
    const id = `${pagenum}-${at}`;
    return item.replace('"id":""', `"id":"${id}"`).replace('"name":""', `"name":"n ${id}"`);
  });
  const paging = JSON.stringify({ count: perPage * pages, pagenum, pagesize: perPage });
  return `{"paginationInfo":${paging},"${listKey}":[${items.join(",")}]}`;
};

let calls = 0;

const server = createServer((request, response) => {
  const { url = "" } = request;
  response.setHeader("content-type", "application/json");
  if (url === "/token") {
    response.end(JSON.stringify({ access_token: "token", expires_in: 3600 }));
    return;
  }
  calls += 1;
  const kind = resources.find(({ collection }) => url.includes(`/${collection}`));
  response.end(pageText(kind?.listKey ?? "none", Number(/pagenum=(\d+)/.exec(url)?.[1] ?? 1)));
});

/** What a command of a small machine has. */
const memory = { NODE_OPTIONS: "--max-old-space-size=512" };

let project: CliProject;

beforeAll(async () => {
  const origin = await listenHere(server);
  project = await cliProject(exampleProgram, {
    CONVERSATION_BASE_URL: `${origin}/conversation/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/token`,
    CONVERSATION_CLIENT_ID: "client",
    CONVERSATION_CLIENT_SECRET: "not-a-real-secret",
    ...withoutPace,
  });
});

afterAll(async () => {
  project?.remove();
  await closeServer(server);
});

const sentence =
  /Could not list every [a-z ]+: the responses to GET \/[a-z]+ are too large to keep\. \d+\.\d MiB arrived in \d+ pages?.*; \d+ MiB of memory has room for \d+\.\d MiB\. .*NODE_OPTIONS=--max-old-space-size=\d+/;

const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

test.each([["explain"], ["drift"]])(
  "%s of an account that is too large for the memory ends with a sentence",
  async (...args) => {
    calls = 0;
    const { code, output, errors } = await project.tool(args, memory);
    expect(flat(output + errors)).toMatch(sentence);
    expect([code, calls < 60]).toEqual([1, true]);
  },
);

test("so does up", async () => {
  const { code, output } = await project.pulumi(["up", "--yes", "--skip-preview"], memory);
  expect(flat(output)).toMatch(sentence);
  expect(code).not.toBe(0);
});
