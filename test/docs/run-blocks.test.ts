import * as crypto from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import * as pulumi from "@pulumi/pulumi";
import { load } from "js-yaml";
import ts from "typescript";
import { afterEach, expect, test, vi } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import * as emulator from "../../emulator/index.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import * as sdk from "../../sdk/index.js";
import * as runtime from "../../sdk/runtime/index.js";
import { startCallbackServer } from "../../sdk/testing/callback-server.js";
import { HubRecords } from "../../sdk/testing/checks.js";
import * as testing from "../../sdk/testing/index.js";
import { EmulatedTime, testConversation } from "../../sdk/testing/test-conversation.js";
import { examples } from "../sdk/support/public-docs.js";
import { type Emulated, emulated } from "../support/emulated.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { blocksIn } from "./pages.js";

/*
 * What pages and doc comments show is run here, on emulators, so that all that it sends is held against the vendor's
 * description. Programs in Python and Go, whose names code.test.ts looks up in the plugin's schema, declare what those
 * in YAML do.
 */

type Names = Readonly<Record<string, unknown>>;
type Block = Readonly<Record<"page" | "code", string>>;

/** What is not run here, and why; a new block is run. */
const notRun: readonly (readonly [page: string, code: RegExp, reason: string])[] = [
  ["docs/guides/first-bot.md", /./, "test/built/first-bot.test.ts goes through the page"],
  ["docs/guides/plugin.md", /registerStackTransformation/, "sends nothing"],
  ["docs/guides/plugin.md", /staging/, "has a service of its own"],
  ["docs/testing.md", /runMocked/, "sends nothing, and is of the reader's program"],
  ["sdk/policies/conversation-policies.ts", /./, "sends nothing"],
  ["sdk/runtime/connect.ts", /Case Manager/, "calls another service"],
  ["sdk/runtime/connect.ts", /startEmulator/, "sends nothing"],
  ["sdk/runtime/message-memory.ts", /redis/, "needs Redis; the first bot has it"],
  ["sdk/runtime/pkce.ts", /./, "needs a browser; the first bot signs a user in"],
  ["sdk/testing/emulated-stack.ts", /./, "needs Pulumi; test/built/testing-kit.test.ts has it"],
  ["sdk/testing/checks.ts", /./, "needs Pulumi"],
  ["sdk/testing/test-conversation.ts", /ada\.expect/, "sends nothing"],
];

/** The TypeScript that declares what a program in YAML does. */
const translated = (yaml: string): string =>
  Object.entries<Names>(Object(load(yaml)).resources)
    .map(([name, { type, properties }]) => {
      const args = JSON.stringify(properties).replaceAll(/"\$\{(\w+)(\.id)?\}"/g, "$1");
      return `const ${name} = new ${String(type).split(":").at(-1)}("${name}", ${args});`;
    })
    .join("\n");

/** The calls of the service that a shell block makes with curl. */
const requested = (shell: string): string =>
  [...shell.matchAll(/"\$CONVERSATION_BASE_URL(\/\w+)".* --json '(.*)'/g)]
    .map(([, path = "", body = ""]) => `await byHand("POST", "${path}", ${body});`)
    .join("\n");

const all: readonly Block[] = [
  ...blocksIn("ts", "typescript").filter(({ page }) => !page.startsWith("docs/api/")),
  ...blocksIn("yaml")
    .filter(({ code }) => /^resources:/m.test(code))
    .map(({ page, code }) => ({ page, code: translated(code) })),
  ...blocksIn("sh").map(({ page, code }) => ({ page, code: requested(code) })),
  ...examples.map(({ file, code }) => ({ page: file, code })),
];

const declares =
  /\bnew (\w*Account|\w+Application|Authentication|Channel|Orchestration|Participant)\(/;
const [others = [], programs = []] = [false, true].map((wanted) =>
  all.filter(({ page, code }) => {
    const isRun = !notRun.some(([of, like]) => of === page && like.test(code));
    // What waits is of a test, and calls functions of the testing kit.
    return code !== "" && isRun && (declares.test(code) && !code.includes(" await ")) === wanted;
  }),
);

const modules: Names = {
  "pulumi-conversation": sdk,
  "pulumi-conversation/runtime": runtime,
  "pulumi-conversation/emulator": emulator,
  "@pulumi/pulumi": pulumi,
  "node:crypto": crypto,
};

/** Runs code with names that its reader has; gives what it exports. */
const run = async (code: string, given: Names = {}): Promise<Names> => {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const exports = {};
  const require = (name: string) => ({ ...Object(modules[name]), ...given });
  const names = { ...sdk, ...runtime, ...testing, pulumi, ...given, exports, require };
  const body = `return (async () => { ${outputText}\n})();`;
  await compileFunction(body, Object.keys(names))(...Object.values(names));
  return exports;
};

const password = "not-a-real-password";
const callbackUrl = "https://shop.example.com/hub";
const config = {
  "shop:callbackUrl": callbackUrl,
  "shop:callbackPassword": password,
  "shop:botPassword": password,
};

/** The accounts of a program by their profile, each on an emulator. */
class Accounts {
  readonly emulated = new Map<unknown, Promise<Emulated>>();
  /** IDs of the latest object of each kind, by the name that pages have for it. */
  readonly latest: Record<string, unknown> = {};

  constructor(private readonly options: emulator.EmulatorOptions = {}) {}

  of(profile?: unknown): Promise<Emulated> {
    const found = this.emulated.get(profile) ?? emulated(this.options);
    this.emulated.set(profile, found);
    return found;
  }

  /** Runs a program, and creates what it declares. */
  async declare(program: () => unknown): Promise<void> {
    const mocks = testing.conversationMocks();
    const failures: unknown[] = [];
    const newResource = async (resource: pulumi.runtime.MockResourceArgs) => {
      const checked = await mocks.newResource(resource);
      const kind = resources.find((each) => typeToken(each.kind) === resource.type)?.kind;
      const { inputs } = mocks.registered.find(({ id }) => id === checked.id) ?? {};
      if (kind === undefined) return checked;
      const made = this.#create(kind, { ...checked.state, ...inputs });
      return (await made.catch((error: unknown) => void failures.push(error))) ?? checked;
    };
    await pulumi.runtime.disconnect();
    await pulumi.runtime.setMocks({ ...mocks, newResource }, "shop", "prod");
    pulumi.runtime.setAllConfig(config);
    await program();
    await pulumi.runtime.disconnect();
    expect([...mocks.failures, ...failures]).toEqual([]);
  }

  async #create(kind: string, { profile, ...inputs }: Names) {
    const { id, outs } = await (await this.of(profile)).of(kind).create(inputs);
    this.latest[kind.charAt(0).toLowerCase() + kind.slice(1)] = id;
    return { id, state: outs };
  }
}

afterEach(() => vi.unstubAllEnvs());

test.each([...Map.groupBy(programs, ({ page }) => page)])(
  "what %s declares is created",
  async (_page, blocks) => {
    vi.stubEnv("DESK_PASSWORD", password);
    const accounts = new Accounts();
    const given = {
      callbackPassword: password,
      secrets: { authenticationDeskLoginPassword: password },
    };
    for (const { code } of blocks)
      await accounts.declare(() => run(code, { ...given, ...accounts.latest }));
    for (const each of accounts.emulated.values()) {
      const { calls, stop } = await each;
      expect(await calls()).toContainEqual(expect.stringMatching(/^POST .* 201$/));
      await stop();
    }
  },
);

const account = { channel: "custom.web", address: "shop-web" };
const receipt = join(folderOfFile(), "receipt.pdf");

const example = (file: string): string =>
  readFileSync(join(__dirname, "..", "..", "examples", "orders-bot", file), "utf8");

test("what every other block sends is accepted", async () => {
  const handlers = await startCallbackServer();
  const accounts = new Accounts({ callbackRoute: handlers.route });
  await accounts.declare(() => run(example("index.ts")));
  const { emulator, ...service } = await accounts.of();
  const hub = runtime.connect(emulator);
  const { ordersBot } = await run(example("bot.mts"), await run(example("orders.mts")));
  const onMessage = Object(ordersBot)(hub, account.channel);
  const records = new HubRecords(emulator.control, "platform");
  const time = new EmulatedTime(emulator, true);
  const means = { client: hub, records, time, finalTries: 3, handlers };
  const conversation = () => testConversation(means, account);
  const settings = { ...emulatorEnvironment(emulator), CALLBACK_PASSWORD: password };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  writeFileSync(receipt, "receipt");
  const serve = (bot: runtime.Callbacks) => {
    handlers.setHandlers({ [`${callbackUrl}/bot`]: bot });
    return bot;
  };
  const authenticate = { basic: { username: "hub", password } };
  const text = { type: "text", text: "Hello" } as const;
  const again = { ...text, sender: "customer", conversation: { account } } as const;

  for (const { page, code } of others) {
    handlers.setHandlers({});
    const over = await hub.messages.start(again);
    await hub.messages.end(over, "customer");
    const late = hub.messages.reply(over, { ...text, sender: "custom_bot" });
    const error = await late.catch((error: unknown) => error);
    const { conversationId } = await hub.messages.start(again);
    const message = { ...text, sender: "custom_bot", conversation: conversationId };
    // As in a message that was received; no member of one that is sent.
    Object.defineProperty(message, "conversationId", { value: conversationId });
    const { id } = await hub.assets.upload(receipt, { ...account, sender: "custom_bot" });
    if (/\b(ada|onMessage)\b/.test(code)) serve(runtime.callbacks({ authenticate, onMessage }));
    const bodies: ((context: Names) => unknown)[] = [];
    const given = {
      ...{ hub, client: hub, authenticate, onMessage, password, message, again, id, assetId: id },
      ...{ conversation: conversationId, conversationId: over.conversationId },
      ...{ error, ada: conversation() },
      byHand: (...call: Parameters<EmulatorControl["byHand"]>) =>
        new EmulatorControl(emulator).byHand(...call),
      forget: () => undefined,
      process: { env: process.env, once: () => undefined },
      callbacks: (options: runtime.CallbackOptions) => serve(runtime.callbacks(options)),
      conversationApp: (options: runtime.ConversationAppOptions) =>
        serve(runtime.conversationApp(options)),
      serveCallbacks: async () => ({ close: () => undefined }),
      createServer: () => ({ listen: () => undefined }),
      console: { log: () => undefined, error: expect.fail },
      test: (_name: string, body: (context: Names) => unknown) => bodies.push(body),
      expect: () => ({ toMatchFileSnapshot: () => undefined }),
    };
    const real = code
      .replace('"c-1"', JSON.stringify(conversationId))
      .replace("1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10", String(accounts.latest.account))
      .replace("http://127.0.0.1:4010/control", emulator.controlUrl)
      .replace('upload("receipt.pdf"', `upload(${JSON.stringify(receipt)}`);
    await run(real, given).catch((error) => expect.fail(`${page}: ${error}\n${code}`));
    for (const body of bodies) await body({ shop: { conversation } });
    if (handlers.addresses().length === 0) continue;
    const customer = conversation();
    await customer.say("Where is my order?");
    await customer.expect({ from: "bot" });
    await customer.idle();
    expect(handlers.failures(customer.id)).toEqual([]);
  }
  const once = ["POST /channels 201", "DELETE /assets/{id} 204", "GET /conversations/{id} 200"];
  expect(await service.calls()).toEqual(expect.arrayContaining(once));
  await hub.close();
  await service.stop();
  await handlers.close();
});
