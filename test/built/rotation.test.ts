import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { afterEach, expect, test } from "vitest";
import { type Callbacks, connect } from "../../sdk/runtime/index.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { listenHere } from "../support/loopback-server.js";

const guide = readFileSync(join(__dirname, "../../docs/guides/secrets.md"), "utf8");

/** The code blocks of the guide in a language. */
const blocks = (language: string): readonly string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );

const commonJs = (source: string): string =>
  transpileModule(source, {
    compilerOptions: { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 },
  }).outputText;

/** The authentication of the guide, and an account whose three sides use it. */
const program = (url: string, version: number): string =>
  commonJs(`${blocks("ts")[0]?.replace("version: 1", `version: ${version}`)}
import { ConversationAccount } from "pulumi-conversation";
const party = { callback: "${url}", notificationEmail: "ops@example.com", authentication: desk };
new ConversationAccount("shop", {
  address: "shop-1",
  channel: { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" },
  customer: party, bots: { bot: party }, agent: party,
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
  const load = new Function("require", "exports", commonJs(blocks("ts")[1] ?? ""));
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

test("a callback's login is rotated by the steps of the guide, and not one delivery is refused", async () => {
  const callback = await desk();
  project = await emulatedProject(program(callback.url, 1));
  const { succeed, folder } = project;
  await succeed(["up", "--yes", "--skip-preview"], { DESK_PASSWORD: "old-password" });
  const hub = connect(project.emulator, { environment: {} });
  let isOver = false;
  let sent = 0;
  const traffic = (async () => {
    while (!isOver) {
      sent += 1;
      await hub.messages.start({
        type: "text",
        text: `message ${sent}`,
        sender: { kind: "customer", name: "Ada" },
        conversation: {
          account: { channel: "custom.kiosk", address: "shop-1" },
          customer: { name: "Ada" },
        },
      });
      await new Promise((done) => setTimeout(done, 20));
    }
  })();
  callback.deploy("old-password", "new-password");
  writeFileSync(join(folder, "index.js"), program(callback.url, 2));
  const rotated = { DESK_PASSWORD: "new-password" };
  const preview = await succeed(["preview", "--diff"], rotated);
  expect(preview).toMatch(/1 to update/);
  await succeed(["up", "--yes", "--skip-preview"], rotated);
  await expect.poll(() => callback.logins.get("hub:new-password") ?? 0).toBeGreaterThan(3);
  isOver = true;
  await traffic;
  await expect.poll(() => callback.statuses.length).toBeGreaterThanOrEqual(sent);
  callback.deploy("new-password");
  expect(callback.logins.get("hub:old-password")).toBeGreaterThan(0);
  expect(callback.statuses.filter((status) => status !== 200)).toEqual([]);
  expect(project.state()).not.toMatch(/old-password|new-password/);
  await hub.close();
});

test("without the variable a preview and a refresh go on, and up writes nothing and says what to set", async () => {
  const url = "https://chat.example.com/";
  project = await emulatedProject(program(url, 1));
  const { succeed, folder } = project;
  const declare = (version: number) =>
    writeFileSync(join(folder, "index.js"), program(url, version));
  await succeed(["up", "--yes", "--skip-preview"], { DESK_PASSWORD: "old-password" });
  const written = (await project.writes()).length;
  // The version is what is compared: another value under the same one is no change.
  await succeed(["preview", "--expect-no-changes"], { DESK_PASSWORD: "another-password" });
  declare(2);
  expect(await succeed(["preview"])).toContain("DESK_PASSWORD (version 2), which is not set");
  const { code, output } = await project.pulumi(["up", "--yes", "--skip-preview"]);
  expect(code).not.toBe(0);
  expect(output).toContain("Set DESK_PASSWORD where Pulumi runs, then run it again");
  expect(await project.writes()).toHaveLength(written);
  await succeed(["refresh", "--yes", "--skip-preview"]);
  declare(1);
  await succeed(["preview", "--expect-no-changes"]);
  expect(project.state()).not.toMatch(/old-password|another-password/);
  await succeed(["destroy", "--yes", "--skip-preview"]);
});
