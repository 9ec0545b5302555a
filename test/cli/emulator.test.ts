import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../cli/program.js";
import { connectControl } from "../../emulator/index.js";
import { switchTable } from "../../emulator/service/switches.js";
import { scopes } from "../../provider/service/operations.js";
import { connect } from "../../sdk/runtime/index.js";
import { address, hub } from "../emulator-runtime/hub.js";
import { listenHere, portOf } from "../support/loopback-server.js";
import { assertPrinted } from "../support/printed-json.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { recordedSession, run } from "./session.js";

/** The emulator under way: what it has printed, and how to end it. */
const emulator = async (...args: string[]) => {
  const { session, written, interrupt } = recordedSession();
  const ended = runProgram(["emulator", "--port", "0", ...args], session);
  const end = () => {
    interrupt();
    return ended;
  };
  onTestFinished(async () => void (await end()));
  await expect.poll(() => written.out + written.err).not.toBe("");
  await assertPrinted(["emulator", ...args], written.out);
  return { out: written.out, written, end };
};

/** What the lines that begin with `export` set. */
const exported = (out: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...out.matchAll(/^ {2}export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );

const keys = ["baseUrl", "tokenUrl", "authUrl", "controlUrl", "clientId", "clientSecret"];

test("with --json the first line is one object with addresses and credentials that are good", async () => {
  const { out } = await emulator("--json");
  const [line = ""] = out.split("\n");
  expect(out).toBe(`${line}\n`);
  const made = JSON.parse(line);
  expect(Object.keys(made)).toEqual(keys);
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: made.clientId,
    client_secret: made.clientSecret,
    scope: scopes.read,
  });
  expect((await fetch(made.tokenUrl, { method: "POST", body })).status).toBe(200);
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

test("a blank variable for the secret of control counts as missing", async () => {
  vi.stubEnv("CONVERSATION_CONTROL_SECRET", " ");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(Object.keys(JSON.parse((await emulator("--json")).out))).toEqual(keys);
});

test("without --json it prints the variables to set, the plan only where there is one", async () => {
  const { out } = await emulator();
  for (const name of ["BASE_URL", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET"])
    expect(out).toMatch(new RegExp(`^ {2}export CONVERSATION_${name}=\\S+$`, "m"));
  expect(out).not.toContain("CONVERSATION_PLAN");
  expect((await emulator("--plan", "basic")).out).toContain("export CONVERSATION_PLAN=basic\n");
});

test("switches, the clock and the data file reach it", async () => {
  const data = join(temporaryFolder(), "emulator.json");
  const { out } = await emulator(
    "--json",
    "--data",
    data,
    "--clock",
    "manual",
    "--switch",
    "put=keep",
    "--switch",
    "deliveryRetries=3",
  );
  const { controlUrl } = JSON.parse(out);
  const switches = await (await fetch(`${controlUrl}/switches`)).json();
  expect(switches).toMatchObject({ put: "keep", deliveryRetries: 3 });
  const moved = await fetch(`${controlUrl}/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"advanceMs":1000}',
  });
  expect(moved.status).toBe(200);
  expect(JSON.parse(readFileSync(data, "utf8")).switches).toEqual(switches);
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

const node = (program: string) => ["--", process.execPath, "-e", program];

test("a command runs with the emulator in its environment, and hands on its exit code", async () => {
  const program = `
    const { CONVERSATION_BASE_URL: base, CONVERSATION_TOKEN_URL: token, CONVERSATION_CONTROL_URL: control } = process.env;
    const { CONVERSATION_CLIENT_ID: id, CONVERSATION_CLIENT_SECRET: secret, CONVERSATION_PLAN: plan } = process.env;
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret, scope: "x/.default" });
    (async () => {
      const { access_token } = await (await fetch(token, { method: "POST", body })).json();
      const list = await fetch(base + "/channels", { headers: { authorization: "Bearer " + access_token } });
      const { calls } = await (await fetch(control + "/stats")).json();
      process.exit(list.status === 200 && calls["GET /channels"].accepted === 1 && plan === "basic" ? 42 : 1);
    })();`;
  const { code, out, err } = await run("emulator", "--plan", "basic", ...node(program));
  expect({ code, out, err }).toEqual({ code: 42, out: "", err: "" });
});

test("a command controls with the secret", async () => {
  const program = `
    const { CONVERSATION_CONTROL_URL: control, CONVERSATION_CONTROL_SECRET: secret } = process.env;
    fetch(control + "/stats", { headers: { authorization: "Bearer " + secret } })
      .then(({ status }) => process.exit(status === 200 ? 42 : 1));`;
  expect((await run("emulator", "--control-secret", ...node(program))).code).toBe(42);
});

test("several commands run at once, each with an emulator of its own", async () => {
  const codes = await Promise.all(
    [3, 4].map(
      async (code) =>
        (await run("emulator", ...node(`setTimeout(() => process.exit(${code}), 100)`))).code,
    ),
  );
  expect(codes).toEqual([3, 4]);
});

test("a command that a signal ended gives the exit code that a shell gives", async () => {
  const { code } = await run("emulator", ...node('process.kill(process.pid, "SIGTERM")'));
  expect(code).toBe(143);
});

test("a command that does not exist is a clear error with exit code 127", async () => {
  // Where a folder of PATH is closed to this user, the system tells that instead.
  vi.stubEnv("PATH", "/usr/bin:/bin");
  const { code, err } = await run("emulator", "--", "no-such-command", "--flag");
  vi.unstubAllEnvs();
  expect(err).toBe(
    "error: Running no-such-command: the command does not exist. Check the command's name. Put emulator options before the --.\n",
  );
  expect(code).toBe(127);
});

test("an option of the emulator after the -- is named, with the command that takes it", async () => {
  const { code, err } = await run("emulator", "--data", "a.db", "--", "--port", "4711");
  expect(err).toBe(
    "error: --port is not a command. Put emulator options before the --. Run: npx pulumi-conversation emulator --data a.db --port …\n",
  );
  expect(code).toBe(2);
});

test("where there is no pulumi, it is said how to get it", async () => {
  vi.stubEnv("PATH", "");
  vi.stubEnv("XDG_CACHE_HOME", "/nowhere");
  const { code, err } = await run("emulator", "--", "pulumi", "up");
  vi.unstubAllEnvs();
  expect(code).toBe(127);
  expect(err).toMatch(
    /command does not exist\. Install Pulumi [\d.]+ or later: https:\S+install\/$/m,
  );
});

test("--json and a command do not go together", async () => {
  const { code, err, out } = await run("emulator", "--json", ...node("0"));
  expect([code, err, out]).toEqual([
    2,
    expect.stringContaining("You cannot combine --json with a command"),
    expect.stringContaining('"code": "USAGE"'),
  ]);
});

test("a command without a name is a wrong command line", async () => {
  const { code, err } = await run("emulator", "--", "");
  expect([code, err]).toEqual([2, "error: The command after -- is empty.\n"]);
});

test("the help has every switch and what it may be", async () => {
  const { out } = await run("emulator", "--help");
  const reported = out.replaceAll(/\s+/g, " ");
  for (const [name, { doc }] of Object.entries(switchTable)) {
    expect(reported).toContain(` ${name}=`);
    expect(reported).toContain(doc);
  }
});

test("a port in use is a clear error with exit code 1", async () => {
  const server = createServer();
  await listenHere(server);
  onTestFinished(() => void server.close());
  const port = String(portOf(server));
  const { code, err } = await run("emulator", "--port", port);
  expect(code).toBe(1);
  expect(err).toContain(`port ${port} is in use`);
});

test("a folder of --data that does not exist is a clear error with exit code 1", async () => {
  const data = join(temporaryFolder(), "missing", "emulator.json");
  const { code, err } = await run("emulator", "--port", "0", "--data", data);
  expect(code).toBe(1);
  expect(err).toContain(`the folder for --data ${data} does not exist`);
});

test.each([
  [[], 1],
  [["--json"], 0],
] as const)(
  "a message that is not delivered is one line on standard error (%j)",
  async (args, count) => {
    const { service, bot } = await hub({ switches: { deliveryRetries: 1 } });
    const { url } = bot;
    await bot.close();
    const snapshot = await service.emulator.control.snapshot();
    const { out, written } = await emulator("--clock", "manual", ...args);
    const controlUrl =
      args.length > 0 ? JSON.parse(out).controlUrl : /Control: +(\S+)/.exec(out)?.[1];
    const control = connectControl(controlUrl);
    await control.restore(snapshot);
    const settings = args.length > 0 ? JSON.parse(out) : {};
    await using client = connect(settings, { environment: exported(out), pacing: "after-refusal" });
    const { channel, address: to } = address;
    await client.messages.start({
      type: "text",
      text: "Hello",
      messageId: "m-1",
      sender: "customer",
      conversation: { account: { channel: channel.type, address: to }, customer: { name: "Ada" } },
    });
    await control.waitForDelivery(({ attempt }) => attempt === 1, { timeoutMs: 10_000 });
    await control.advance(1_000);
    await control.waitForDelivery(({ attempt }) => attempt === 2, { timeoutMs: 10_000 });
    const line = `Message m-1 (text) was not delivered to ${url}/custom_bot (2 attempts): ECONNREFUSED. The callback could not be reached, or did not respond in time. Start the bot, and check that it listens on the callback's host and port. Have it respond with 202 before it does its work.\n`;
    await expect.poll(() => written.err).toBe(line.repeat(count));
  },
);
