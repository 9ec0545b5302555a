import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../../cli/program.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { folderOfFile } from "../support/temporary-folder.js";

/*
 * "This package sends nothing to anybody but calls to your service" (SECURITY.md): every connection, look-up of a name
 * and datagram of every Node process is written down, and what goes out over HTTP besides, as from Pulumi itself,
 * meets a proxy that counts it.
 */

const folder = folderOfFile();
const log = join(folder, "connections.log");
const hook = join(folder, "hook.cjs");

writeFileSync(log, "");
writeFileSync(
  hook,
  `const { appendFileSync } = require("node:fs");
const net = require("node:net");
const dns = require("node:dns");
const dgram = require("node:dgram");
const note = (target) => appendFileSync(${JSON.stringify(log)}, JSON.stringify(target) + "\\n");
const watched = (object, name, targetOf) => {
  const original = object[name];
  object[name] = function (...args) {
    note(targetOf(args));
    return original.apply(this, args);
  };
};
watched(net.Socket.prototype, "connect", ([first, second]) => {
  const options = Array.isArray(first) ? first[0] : first;
  if (typeof options !== "object") return { host: typeof second === "string" ? second : "localhost", port: options };
  return options.path ? { path: options.path } : { host: options.host ?? "localhost", port: options.port };
});
watched(dns, "lookup", ([host]) => ({ host }));
for (const name of ["resolve", "resolve4", "resolve6"]) watched(dns, name, ([host]) => ({ host }));
for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) watched(dns.promises, name, ([host]) => ({ host }));
watched(dgram.Socket.prototype, "send", () => ({ host: "a datagram" }));
`,
);

interface Target {
  readonly host?: string;
  readonly port?: number | string;
  readonly path?: string;
}

const targets = (): readonly Target[] =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const isHere = ({ host, path }: Target): boolean =>
  path !== undefined || /^(localhost|127\.0\.0\.1|::1|0\.0\.0\.0|)$/.test(host ?? "");

const program = `
const { Channel } = require("pulumi-conversation");
new Channel("web", { type: "custom.web", displayName: "Web chat", icon: "aVZC" });`;

/** Sends a file to the service, and takes a callback. */
const bot = `
const { createServer } = require("node:http");
const { connect, conversationApp } = require("pulumi-conversation/runtime");
const hub = connect();
const app = conversationApp({ authenticate: { basic: { username: "hub", password: "secret" } } });
app.otherwise(() => undefined);
const server = createServer(app.node).listen(0, "127.0.0.1", async () => {
  const target = { channel: "custom.web", sender: "custom_bot", name: "orders.csv" };
  await hub.assets.upload(new TextEncoder().encode("order"), target);
  const authorization = "Basic " + Buffer.from("hub:secret").toString("base64");
  const url = "http://127.0.0.1:" + server.address().port;
  const { status } = await fetch(url, { method: "POST", headers: { authorization }, body: "{}" });
  console.log(status);
  await hub.close();
  server.close();
});
`;

let project: EmulatedProject;
let throughProxy: string[];
let watched: Readonly<Record<string, string>>;
let closeProxy: () => Promise<void>;

beforeAll(async () => {
  throughProxy = [];
  const proxy = createServer((request, response) => {
    throughProxy.push(request.url ?? "");
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    throughProxy.push(request.url ?? "");
    socket.destroy();
  });
  const address = await listenHere(proxy);
  closeProxy = () => closeServer(proxy);
  watched = {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS} --require "${hook}"`,
    HTTPS_PROXY: address,
    HTTP_PROXY: address,
    https_proxy: address,
    http_proxy: address,
    NO_PROXY: "localhost,127.0.0.1",
    no_proxy: "localhost,127.0.0.1",
  };
  project = await emulatedProject(program, {}, watched);
});

afterAll(async () => {
  await project?.close();
  await closeProxy?.();
});

/** Every command, as a reader runs it. */
const lines: Readonly<Record<string, readonly string[]>> = {
  init: ["new-shop", "--no-install"],
  emulator: ["--", process.execPath, "-e", "0"],
  doctor: [],
  forecast: [],
  explain: [],
  drift: [],
  compare: ["live", "stack:prod"],
  orphans: [],
  repair: [],
  export: ["--out", "exported"],
  import: [],
  rehearse: [],
};

test("the hook sees a connection of any Node process", async () => {
  const code = 'fetch("http://hub.invalid/").catch(() => {})';
  await promisify(execFile)(process.execPath, ["--require", hook, "-e", code]);
  expect(targets().filter((target) => !isHere(target))).toContainEqual(
    expect.objectContaining({ host: "hub.invalid" }),
  );
  writeFileSync(log, "");
});

const expectOnly = ({ emulator }: EmulatedProject): void => {
  const port = new URL(emulator.baseUrl).port;
  expect(targets().map((target) => String(target.port))).toContain(port);
  expect(targets().filter((target) => !isHere(target))).toEqual([]);
  expect(throughProxy).toEqual([]);
};

test("a run of Pulumi reaches the service and nobody else", async () => {
  // Its preview first.
  await project.succeed(["up", "--yes"]);
  await project.succeed(["refresh", "--yes", "--skip-preview"]);
  expectOnly(project);
});

test("neither does the plugin", async () => {
  writeFileSync(log, "");
  const other = await emulatedProject(program, {}, watched, "plugin");
  try {
    await other.succeed(["up", "--yes", "--skip-preview", "--refresh"]);
    expectOnly(other);
  } finally {
    await other.close();
  }
});

test("nor a bot", async () => {
  writeFileSync(log, "");
  const { stdout } = await project.inShell((env, cwd) =>
    promisify(execFile)(process.execPath, ["-e", bot], { env, cwd }),
  );
  // The body has no messages.
  expect(stdout).toBe("400\n");
  expectOnly(project);
});

test("there is a line for every command", () => {
  expect(Object.keys(lines).toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
});

test.each(Object.entries(lines))("%s reaches the service and nobody else", async (name, args) => {
  writeFileSync(log, "");
  const { code, output, errors } = await project.tool([name, ...args]);
  // Other codes report a result.
  if (code === 1 || code === 2) throw new Error(output + errors);
  expect(targets().filter((target) => !isHere(target))).toEqual([]);
  expect(throughProxy).toEqual([]);
});
