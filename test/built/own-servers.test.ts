import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { rehearsedProgram } from "../support/rehearsed-program.js";

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

let project: EmulatedProject | undefined;

afterEach(async () => {
  await project?.close();
  project = undefined;
});

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
const askedWhileRunning = async (
  { startTool }: EmulatedProject,
  args: readonly string[],
): Promise<readonly Answer[]> => {
  const child = startTool(args);
  const ended = once(child, "exit");
  const answers: Answer[] = [];
  while (child.exitCode === null && child.signalCode === null) {
    for (const port of listeningPorts(child.pid ?? 0)) answers.push(...(await askAll(port)));
    await pause(20);
  }
  expect(await ended).toEqual([0, null]);
  return answers;
};

const byHand = {
  name: "by hand",
  type: "basic",
  basicAuth: { username: "hub", password: "canary-password" },
};

test.each([
  { command: ["rehearse"], deployed: true },
  { command: ["rehearse", "--from-empty"], deployed: true },
  { command: ["export", "--prove", "--out", "exported"], deployed: false },
  { command: ["import", "--apply", "--with-secrets"], deployed: false },
])(
  "a neighbour on the machine gets nothing from the server of $command.0",
  async ({ command, deployed }) => {
    const opened = await emulatedProject(rehearsedProgram, { switches: { secrets: "echo" } });
    project = opened;
    if (deployed) await opened.succeed(["up", "--yes", "--skip-preview"]);
    else await opened.byHand("POST", "/authentications", byHand);
    const answers = await askedWhileRunning(opened, command);
    expect(answers.length).toBeGreaterThan(0);
    for (const { call, status, text } of answers) {
      expect(text).not.toContain("canary");
      const isPublic = /^GET \/(openapi\.json)?$/.test(call);
      if (!isPublic) expect({ call, isRefused: status >= 400 }).toEqual({ call, isRefused: true });
    }
  },
);
