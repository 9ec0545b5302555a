import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { afterEach, expect, test } from "vitest";
import { type Callbacks, connect } from "../../sdk/runtime/index.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { guideCommands, guidePrograms } from "../support/guide-commands.js";
import { listenHere } from "../support/loopback-server.js";
import { pageShell } from "../support/page-shell.js";

/** The authentication of the guide, and its callback. */
const [authenticationSource = "", receiverSource = ""] = guidePrograms("secrets");

/** The lines of its section about a callback's password, the last one with commands. */
const commands = guideCommands("secrets");
const steps = commands.slice(commands.findIndex((line) => line.startsWith("export DESK_PASSWORD")));

const commonJs = (source: string): string =>
  transpileModule(source, {
    compilerOptions: { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 },
  }).outputText;

/** The authentication of the guide, and an account whose three sides use it. */
const program = (url: string, version: number): string =>
  commonJs(`${authenticationSource.replace("version: 1", `version: ${version}`)}
import { ConversationAccount } from "pulumi-conversation";
const party = { callback: "${url}", notificationEmail: "ops@example.com", authentication: desk };
new ConversationAccount("shop", {
  address: "shop-1",
  channel: { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" },
  customer: party, bot: party, agent: party, chatConfigurations: { entryPoint: "1007" },
});`);

let project: EmulatedProject | undefined;
let close = (): void => undefined;

afterEach(async () => {
  await project?.close();
  close();
});

/** The callback of the guide, as a server whose list of passwords is changed as by a deployment. */
const desk = async () => {
  const module: { exports: { receiver?: (...args: unknown[]) => Callbacks } } = { exports: {} };
  const load = new Function("require", "exports", commonJs(receiverSource));
  const runtime = await import("../../sdk/runtime/index.js");
  load(() => runtime, module.exports);
  const texts: string[] = [];
  const statuses: number[] = [];
  const logins = new Map<string, number>();
  const deployed = (passwords: readonly string[]) =>
    module.exports.receiver?.(passwords, (text: string) => void texts.push(text));
  let handler = deployed(["old-password"]);
  const server = createServer((request, response) => {
    const login = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    logins.set(login, (logins.get(login) ?? 0) + 1);
    response.on("finish", () => statuses.push(response.statusCode));
    handler?.node(request, response);
  });
  const origin = await listenHere(server);
  close = () => server.close();
  const deploy = (...passwords: string[]) => {
    handler = deployed(passwords);
  };
  return { url: `${origin}/`, texts, statuses, logins, deploy };
};

/** So many messages come while the password is rotated: more on demand. */
const messages = Number(process.env.ROTATION_MESSAGES ?? 3000);
const part = messages / 10;
const senders = 8;

/** Customers who write all the time, until they are stopped. */
const startTraffic = ({ messages: hub }: ReturnType<typeof connect>) => {
  let isOver = false;
  let sent = 0;
  const write = async (): Promise<void> => {
    while (!isOver) {
      sent += 1;
      await hub.start({
        type: "text",
        text: `message ${sent}`,
        sender: { kind: "customer", name: "Ada" },
        conversation: {
          account: { channel: "custom.kiosk", address: "shop-1" },
          customer: { name: "Ada" },
        },
      });
    }
  };
  const all = Promise.all(Array.from({ length: senders }, write));
  const more = async (count: number): Promise<void> => {
    const until = sent + count;
    await expect.poll(() => sent).toBeGreaterThanOrEqual(until);
  };
  const end = async (): Promise<number> => {
    if (sent < messages) await more(messages - sent);
    isOver = true;
    await all;
    return sent;
  };
  return { more, end };
};

test(`a callback's login is rotated by the steps of the guide under ${messages} messages, and not one delivery is refused`, async () => {
  const callback = await desk();
  // A manual clock: the wait of step 3 is moved, and no token of the customers expires meanwhile.
  project = await emulatedProject(program(callback.url, 1), { clock: "manual" });
  const { succeed, folder } = project;
  const shell = pageShell(project);
  await succeed(["up", "--yes", "--skip-preview"], { DESK_PASSWORD: "old-password" });
  const hub = connect(project.emulator, { environment: {} });
  const traffic = startTraffic(hub);
  const used = (password: string) => callback.logins.get(`hub:${password}`) ?? 0;
  await traffic.more(part);
  const next = "the new password";
  callback.deploy("old-password", next);
  await traffic.more(part);
  writeFileSync(join(folder, "index.js"), program(callback.url, 2));
  let exported = "";
  for (const line of steps) {
    if (line.startsWith("export ")) {
      exported = `${line} && `;
      continue;
    }
    const { code, output } = await shell(exported + line);
    expect([line, code, output]).toEqual([line, 0, expect.stringMatching(/update/)]);
  }
  await expect.poll(() => used(next)).toBeGreaterThan(part);
  await project.emulator.control.advance(3_600_000);
  const before = used("old-password");
  await traffic.more(part);
  callback.deploy(next);
  await traffic.more(part);
  const sent = await traffic.end();
  await expect.poll(() => callback.statuses.length).toBeGreaterThanOrEqual(sent);
  expect(sent).toBeGreaterThanOrEqual(messages);
  expect(new Set(callback.texts).size).toBe(sent);
  expect(before).toBeGreaterThan(part);
  expect(used("old-password")).toBe(before);
  expect(callback.statuses.filter((status) => status !== 202)).toEqual([]);
  expect(project.state()).not.toMatch(/old-password|the new password/);
  await hub.close();
});
