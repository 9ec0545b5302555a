import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../cli/program.js";
import { scopes } from "../../provider/service/http/operations.js";
import { recordedSession, run } from "./session.js";
import { temporaryFolder } from "./temporary-folder.js";

/** The emulator under way: what it has printed, and how to end it. */
const emulator = async (...args: string[]) => {
  const { session, written, interrupt } = recordedSession();
  const ended = runProgram(["emulator", "--port", "0", ...args], session);
  const end = () => {
    interrupt();
    return ended;
  };
  onTestFinished(async () => void (await end()));
  await expect.poll(() => written.out + written.err, { timeout: 5000 }).not.toBe("");
  return { out: written.out, end };
};

const keys = [
  "baseUrl",
  "tokenUrl",
  "authUrl",
  "controlUrl",
  "clientId",
  "clientSecret",
  "customerAuthUrl",
  "customerTokenUrl",
];

test("with --json the first line is one object with addresses and credentials", async () => {
  const { out } = await emulator("--json");
  const [line = ""] = out.split("\n");
  expect(out).toBe(`${line}\n`);
  expect(Object.keys(JSON.parse(line))).toEqual(keys);
});

test("a secret of control that is asked for is in the first line, and is needed", async () => {
  const made = JSON.parse((await emulator("--json", "--control-secret")).out);
  expect(Object.keys(made)).toEqual([...keys, "controlSecret"]);
  expect((await fetch(`${made.controlUrl}/stats`)).status).toBe(401);
  const headers = { authorization: `Bearer ${made.controlSecret}` };
  expect((await fetch(`${made.controlUrl}/stats`, { headers })).status).toBe(200);
  const given = JSON.parse((await emulator("--json", "--control-secret", "my-own-secret")).out);
  expect(given.controlSecret).toBe("my-own-secret");
  expect((await emulator("--control-secret", "my-own-secret")).out).toContain(
    "Bearer my-own-secret",
  );
});

test("what it prints gives a token", async () => {
  const { out } = await emulator("--json");
  const { tokenUrl, clientId, clientSecret } = JSON.parse(out);
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    scope: scopes.read,
  });
  expect((await fetch(tokenUrl, { method: "POST", body })).status).toBe(200);
});

test("without --json it prints the variables to set, the plan only where there is one", async () => {
  const { out } = await emulator();
  for (const name of ["BASE_URL", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET"])
    expect(out).toMatch(new RegExp(`^ {2}export CONVERSATION_${name}=\\S+$`, "m"));
  expect(out).not.toContain("CONVERSATION_PLAN");
  expect((await emulator("--plan", "basic")).out).toContain("export CONVERSATION_PLAN=basic\n");
});

test("switches and the clock reach it", async () => {
  const { out } = await emulator(
    "--json",
    "--clock",
    "manual",
    "--switch",
    "put=keep",
    "--switch",
    "pageSize=3",
  );
  const { controlUrl } = JSON.parse(out);
  const switches = await (await fetch(`${controlUrl}/switches`)).json();
  expect(switches).toMatchObject({ put: "keep", pageSize: 3 });
  const moved = await fetch(`${controlUrl}/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"advanceMs":1000}',
  });
  expect(moved.status).toBe(200);
});

test("an interruption ends it with exit code 0, and nothing listens any more", async () => {
  const { out, end } = await emulator("--json");
  const { controlUrl } = JSON.parse(out);
  expect(await end()).toBe(0);
  await expect(fetch(`${controlUrl}/stats`)).rejects.toThrow("fetch failed");
});

test.each([
  [["--port", "70000"], "whole number from 0 to 65535"],
  [["--port", "x"], "whole number from 0 to 65535"],
  [["--plan", "gold"], "Allowed choices are developer, basic, enterprise, none"],
  [["--clock", "sundial"], "Allowed choices are real, manual"],
  [["--burst", "0"], "whole number from 1"],
  [["--switch", "put=sometimes"], "must be one of replace, keep"],
  [["--switch", "puut=keep"], "Switches: secrets, put"],
  [["--switch", "put"], "must be one of replace, keep"],
])("%j is refused with exit code 2 and what is allowed", async (args, allowed) => {
  const { code, out, err } = await run("emulator", ...args);
  expect(err).toContain(allowed);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test("a port in use is a clear error with exit code 1", async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address ? String(address.port) : "";
  const { code, err } = await run("emulator", "--port", port);
  expect(code).toBe(1);
  expect(err).toContain(`port ${port} is in use`);
});

test("a folder of --data that does not exist is a clear error with exit code 1", async () => {
  const data = join(temporaryFolder(), "missing", "objects.db");
  const { code, err } = await run("emulator", "--port", "0", "--data", data);
  expect(code).toBe(1);
  expect(err).toContain(`the folder of --data ${data} does not exist`);
});
