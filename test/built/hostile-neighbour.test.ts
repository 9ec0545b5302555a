import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { type HostileEntry, hostileEntries, isRoot, plant } from "../support/hostile-neighbour.js";

const program = `
const { Authentication, Channel } = require("pulumi-conversation");
new Authentication("login", { basicAuth: { username: "hub", password: "canary-password" } });
new Channel("a", { type: "custom.a", displayName: "A", icon: "aVZC" });
`;

const prefixes = [
  "pulumi-conversation-rehearsal-",
  "conversation-proof-",
  "conversation-import-",
  "conversation-test-",
];

const plain: readonly HostileEntry[] = ["changing", "a file of 10 GB"];
const foreign = hostileEntries.filter((entry) => isRoot || !plain.includes(entry));

/** Folders as those of the system for everybody, full of what a neighbour put there. */
const sharedPlaces = (project: EmulatedProject) => {
  const TMPDIR = mkdtempSync(join(project.folder, "t-"));
  chmodSync(TMPDIR, 0o1777);
  const left = prefixes.flatMap((prefix) =>
    foreign.map((entry, place) => plant(join(TMPDIR, `${prefix}${place}`), entry)),
  );
  const before = left.map(({ look }) => look());
  return {
    TMPDIR,
    expectUntouched: () => expect(left.map(({ look }) => look())).toEqual(before),
  };
};

const listening = "0A";

const readable = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

/** Inode and port of every socket of this machine that waits for connections. */
const sockets = (): ReadonlyMap<string, number> =>
  new Map(
    ["tcp", "tcp6"].flatMap((table) =>
      readable(() => readFileSync(`/proc/net/${table}`, "utf8"), "")
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , , state]) => state === listening)
        .map((row) => [row[9] ?? "", Number.parseInt(row[1]?.split(":")[1] ?? "", 16)] as const),
    ),
  );

/** The ports on which a process waits for connections, as `/proc` shows them (Linux). */
const listeningPorts = (pid: number): readonly number[] => {
  const folder = `/proc/${pid}/fd`;
  const own = readable(() => readdirSync(folder), []).map((name) =>
    readable(() => readlinkSync(`${folder}/${name}`), ""),
  );
  return [...sockets()].flatMap(([inode, port]) => (own.includes(`socket:[${inode}]`) ? port : []));
};

/** What somebody asks for who knows an emulator, and neither a secret of its control nor one of a client. */
const asked = [
  ...["/control/snapshot", "/control/log", "/control/switches", "/control/faults"],
  ...["/control/conversations", "/control/deliveries", "/control/page/changes", "/control"],
  ...["/conversation/v3/authentications", "/conversation/v3/clientapplications"],
  ...["/oauth/token", "/", "/openapi.json"],
];
/** Calls that write, which nobody else may, either. */
const written = [
  { path: "/control/clients", body: { clientId: "me", clientSecret: "12345678", scopes: ["x"] } },
  { path: "/control/reset", body: undefined },
];

interface Answer {
  readonly port: number;
  readonly call: string;
  readonly status: number;
  readonly text: string;
}

const answerOf = async (
  port: number,
  path: string,
  init: RequestInit = {},
): Promise<readonly Answer[]> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const call = `${init.method ?? "GET"} ${path}`;
    return [{ port, call, status: response.status, text: await response.text() }];
  } catch {
    // It has just ended.
    return [];
  }
};

const askAll = async (port: number): Promise<readonly Answer[]> => {
  const answers = [
    ...asked.map((path) => answerOf(port, path)),
    ...written.map(({ path, body }) =>
      answerOf(port, path, { method: "POST", ...(body ? { body: JSON.stringify(body) } : {}) }),
    ),
  ];
  return (await Promise.all(answers)).flat();
};

/** Another user of the machine, who asks everything on every port of a command for as long as it runs. */
const besideNeighbour = async (
  { startTool }: EmulatedProject,
  { args }: Command,
  environment: Readonly<Record<string, string>>,
) => {
  const child = startTool(args, environment);
  const ended = once(child, "exit");
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const answers: Answer[] = [];
  while (child.exitCode === null && child.signalCode === null) {
    for (const port of listeningPorts(child.pid ?? 0)) answers.push(...(await askAll(port)));
    await pause(50);
  }
  const [code] = await ended;
  return { code, said: (await said).join(""), answers };
};

/** A server for one command answers nobody else. */
const expectRefused = (answers: readonly Answer[]): void => {
  for (const { call, status, text: given } of answers) {
    expect(given).not.toContain("canary");
    const isPublic = /^GET \/(openapi\.json)?$/.test(call);
    if (!isPublic) expect({ call, isRefused: status >= 400 }).toEqual({ call, isRefused: true });
  }
};

interface Command {
  readonly args: readonly string[];
  /** Whether it has a server of its own: an emulator. */
  readonly serves?: true;
}

const commands = (folder: string): readonly Command[] => [
  { args: ["rehearse"], serves: true },
  { args: ["rehearse", "--from-empty"], serves: true },
  { args: ["drift"] },
  { args: ["export", "--out", join(folder, "exported"), "--prove"], serves: true },
  { args: ["forecast"] },
  { args: ["orphans", "--delete"] },
  { args: ["repair", "--apply"] },
  { args: ["import", "--apply", "--with-secrets", "--skip-managed"] },
];

/** What only an import finds, the last of the commands. */
const byHand = {
  ...{ name: "by hand", type: "basic" },
  basicAuth: { username: "hub", password: "canary-password" },
};

test("every command does its work beside a hostile neighbour, who gets nothing and whose things stay untouched", async () => {
  const project = await emulatedProject(program, { switches: { secrets: "echo" } });
  try {
    const { TMPDIR, expectUntouched } = sharedPlaces(project);
    await project.succeed(["up", "--yes", "--skip-preview"]);
    for (const [place, command] of commands(project.folder).entries()) {
      const { args, serves = false } = command;
      if (args[0] === "import") await project.byHand("POST", "/authentications", byHand);
      const XDG_CACHE_HOME = mkdtempSync(join(project.folder, "c-"));
      chmodSync(XDG_CACHE_HOME, 0o1777);
      const entry = foreign[place % foreign.length] ?? "fifo";
      const cache = plant(join(XDG_CACHE_HOME, "pulumi-conversation"), entry);
      const before = cache.look();
      const ran = await besideNeighbour(project, command, { TMPDIR, XDG_CACHE_HOME });
      expect({ args, entry, code: ran.code, said: ran.code === 0 ? "" : ran.said }).toEqual({
        ...{ args, entry, code: 0, said: "" },
      });
      expect(cache.look()).toEqual(before);
      if (serves) expect({ args, asked: ran.answers.length > 0 }).toEqual({ args, asked: true });
      expectRefused(ran.answers);
    }
    expectUntouched();
    const hers = foreign.flatMap((_, place) => prefixes.map((prefix) => `${prefix}${place}`));
    const ours = readdirSync(TMPDIR).filter((name) => !name.endsWith("-behind"));
    expect(ours.filter((name) => /conversation/.test(name)).sort()).toEqual(hers.sort());
  } finally {
    await project.close();
  }
});
