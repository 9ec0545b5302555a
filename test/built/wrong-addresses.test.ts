import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliProject, cliProject } from "../support/cli-project.js";
import { closeServer, listenHere, originOf } from "../support/loopback-server.js";
import { exampleProgram } from "../support/small-programs.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

let service: StrictService;
let relay: Server;
let project: CliProject;
/** What the relay answers by itself: a status and a page of HTML. */
let page: (method: string, path: string) => number | undefined;

/** A way in relay of the service, such as a gateway or a web server of single-page programs. */
const startRelay = async (target: string): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    const status = page(method, url);
    if (status !== undefined) {
      response.writeHead(status, { "content-type": "text/html" }).end("<html>Hello</html>");
      return;
    }
    const { authorization = "", "content-type": type = "application/json" } = headers;
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(target + url, {
      method,
      headers: { authorization, "content-type": type },
      ...body,
    });
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  });
  await listenHere(server);
  return server;
};

beforeAll(async () => {
  page = () => undefined;
  service = await startStrictService();
  const { CONVERSATION_BASE_URL: base = "" } = service.environment;
  relay = await startRelay(new URL(base).origin);
  const address = originOf(relay);
  const baseUrl = address + new URL(base).pathname;
  project = await cliProject(exampleProgram, {
    ...service.environment,
    CONVERSATION_BASE_URL: baseUrl,
  });
  expect((await project.pulumi(["up", "--yes", "--skip-preview"])).code).toBe(0);
});

afterAll(async () => {
  project?.remove();
  if (relay) await closeServer(relay);
  await service?.close();
});

test("a page that is shown for every path deletes nothing", async () => {
  page = () => 200;
  const { code, output } = await project.pulumi(["destroy", "--yes", "--skip-preview"]);
  expect(code).not.toBe(0);
  expect(output.replace(/\s+/g, " ")).toContain("the response is not JSON");
  expect(project.state()).toContain(":Account::shop");
});

test("a path that is missing for one kind alone proves no absence of its objects", async () => {
  page = (_, path) => (path.includes("/accounts") ? 404 : undefined);
  const refreshed = await project.pulumi(["refresh", "--yes", "--skip-preview"]);
  expect(refreshed.code).not.toBe(0);
  const target = ["--target", "**:Account::shop", "--target", "**:Authentication::auth"];
  const { code } = await project.pulumi(["destroy", "--yes", "--skip-preview", ...target], {
    WITHOUT_ACCOUNT: "1",
  });
  expect(code).not.toBe(0);
  expect(
    (await project.pulumi(["up", "--yes", "--skip-preview"], { WITHOUT_ACCOUNT: "1" })).code,
  ).not.toBe(0);
  expect(project.state()).toContain(":Account::shop");
});
