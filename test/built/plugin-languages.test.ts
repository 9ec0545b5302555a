import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { afterAll, describe, expect, type TestContext, test } from "vitest";
import { z } from "zod";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { guideCommands, guidePrograms, guideText } from "../support/guide-commands.js";
import { type Language, languageHost } from "../support/language-hosts.js";
import { leakingFiles, secretsIn } from "../support/left-behind.js";

/*
 * An account in a language other than TypeScript, by the plugin and the code that Pulumi generates for it. What the
 * life cycle guarantees is tested elsewhere: this is whether the plugin is found, and its code fits.
 */

const secret = "canary-callback-password";
const [addPlugin = [], importChannel = []] = guideCommands("plugin")
  .filter((line) => line.startsWith("pulumi "))
  .map((line) => line.split(" ").slice(1));
const role = {
  version: "v3",
  callback: "https://bot.example.com/hub",
  notificationEmail: "ops@example.com",
};

/** What the guide says about the files of a project. */
const guided = (place: RegExp): string => {
  const found = place.exec(guideText("plugin"))?.[1];
  if (found === undefined) throw new Error(`the guide has no ${place}`);
  return found;
};

const yamlProject = {
  name: "shop",
  runtime: "yaml",
  config: { callbackPassword: { type: "string", secret: true } },
  resources: {
    callbacks: {
      type: "conversation:Authentication",
      properties: { basicAuth: { username: "hub", password: "${callbackPassword}" } },
    },
    bot: {
      type: "conversation:ClientApplication",
      properties: {
        description: "before",
        roles: [{ ...role, name: "custom_bot", authentication: "${callbacks.id}" }],
      },
    },
    site: {
      type: "conversation:ClientApplication",
      properties: { roles: [{ ...role, name: "customer", authentication: "${callbacks.id}" }] },
    },
    orders: {
      type: "conversation:Participant",
      properties: { type: "custom_bot", application: "${bot.id}" },
    },
    kiosk: {
      type: "conversation:Channel",
      properties: { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZCT1J3MEtHZ28=" },
    },
    flow: {
      type: "conversation:Orchestration",
      properties: {
        applications: {
          botConfiguration: { bots: [{ application: "${bot.id}", participant: "${orders.id}" }] },
          customerConfiguration: { customer: "${site.id}" },
        },
      },
    },
    shop: {
      type: "conversation:Account",
      properties: {
        address: "shop-web",
        channel: "${kiosk.id}",
        chatConfigurations: { orchestration: "${flow.id}", entryPoint: "1007", timeout: 30 },
      },
    },
  },
};

const pythonProgram = `
import pulumi
import pulumi_conversation as conversation

role = {
    "version": "v3",
    "callback": "https://bot.example.com/hub",
    "notification_email": "ops@example.com",
}
callbacks = conversation.Authentication("callbacks", basic_auth={
    "username": "hub",
    "password": pulumi.Config().require_secret("callbackPassword"),
})
bot = conversation.ClientApplication("bot", description="before", roles=[
    {**role, "name": "custom_bot", "authentication": callbacks.id},
])
site = conversation.ClientApplication("site", roles=[
    {**role, "name": "customer", "authentication": callbacks.id},
])
orders = conversation.Participant("orders", type="custom_bot", application=bot.id)
kiosk = conversation.Channel("kiosk", type="custom.kiosk", display_name="Kiosk", icon="aVZCT1J3MEtHZ28=")
flow = conversation.Orchestration("flow", applications={
    "bot_configuration": {"bots": [{"application": bot.id, "participant": orders.id}]},
    "customer_configuration": {"customer": site.id},
})
conversation.Account("shop", address="shop-web", channel=kiosk.id, chat_configurations={
    "orchestration": flow.id, "entry_point": "1007", "timeout": 30,
})
`;

/** A program in a folder that changes as a person would change it. */
interface Program {
  /** The file that holds it. */
  readonly file: string;
  /** Puts a program of the guide in its place. */
  show(folder: string, guide: string): void;
  /** Writes it, with its project file. */
  write(folder: string): void;
  /** Adds what \`pulumi import\` generated, or resources of one's own. */
  add(folder: string, code: string): void;
}

const edit = (path: string, change: (text: string) => string): void =>
  writeFileSync(path, change(readFileSync(path, "utf8")));

const projectSchema = z.looseObject({ resources: z.record(z.string(), z.unknown()) });

const programs: Readonly<Record<"yaml" | "python", Program>> = {
  yaml: {
    file: "Pulumi.yaml",
    show: (folder, guide) =>
      edit(join(folder, "Pulumi.yaml"), (text) => {
        const project = projectSchema.parse(load(text));
        return dump({ ...project, ...projectSchema.parse(load(guide)) });
      }),
    write: (folder) => writeFileSync(join(folder, "Pulumi.yaml"), dump(yamlProject)),
    add: (folder, code) =>
      edit(join(folder, "Pulumi.yaml"), (text) => {
        const project = projectSchema.parse(load(text));
        const { resources } = projectSchema.parse(load(code));
        return dump({ ...project, resources: { ...project.resources, ...resources } });
      }),
  },
  python: {
    file: "__main__.py",
    show: (folder, guide) => writeFileSync(join(folder, "__main__.py"), guide),
    write: (folder) => {
      const runtime = load(guided(/^Python, .* `runtime: (.*?)` in `Pulumi\.yaml`/m));
      writeFileSync(join(folder, "Pulumi.yaml"), dump({ name: "shop", runtime }));
      writeFileSync(
        join(folder, "requirements.txt"),
        guided(/^Python, .* `([^`]*)` in `requirements\.txt`/m),
      );
      writeFileSync(join(folder, "__main__.py"), pythonProgram);
    },
    add: (folder, code) => edit(join(folder, "__main__.py"), (text) => `${text}\n${code}`),
  },
};

const channel = (type: string, displayName: string) => ({
  type,
  displayName,
  icon: "aVZCT1J3MEtHZ28=",
});

describe.each(["yaml", "python"] as const)("in %s", (language) => {
  const program = programs[language];
  const said: string[] = [];
  let opened: Promise<EmulatedProject | { readonly reason: string }> | undefined;

  const open = async (name: Language) => {
    const host = await languageHost(name);
    if ("reason" in host) return host;
    const project = await emulatedProject("", {}, host.environment);
    program.write(project.folder);
    return project;
  };

  /** The project of these tests, which follow each other. Without a language host they are skipped. */
  const started = async (context: TestContext): Promise<EmulatedProject> => {
    opened ??= open(language);
    const project = await opened;
    if (!("reason" in project)) return project;
    context.skip(true, project.reason);
    throw new Error(project.reason);
  };

  const run = async (project: EmulatedProject, ...args: string[]): Promise<string> => {
    const { code, output } = await project.pulumi(args);
    said.push(output);
    if (code !== 0) throw new Error(`pulumi ${args.join(" ")}: ${output}`);
    return output;
  };

  afterAll(async () => {
    const project = await opened;
    if (project && !("reason" in project)) await project.close();
  });

  test("the plugin is added as the guide says, and its code generated", async (context) => {
    const project = await started(context);
    expect(await run(project, ...addPlugin)).toContain("conversation");
    const settings = load(readFileSync(join(project.folder, "Pulumi.yaml"), "utf8"));
    expect(settings).toMatchObject({
      packages: { conversation: expect.stringContaining("plugin") },
    });
    await run(project, "config", "set", "--secret", "callbackPassword", secret);
  });

  test("the programs of the guide and of the registry's overview run", async (context) => {
    const project = await started(context);
    const own = readFileSync(join(project.folder, program.file), "utf8");
    const [guide = ""] = guidePrograms("plugin", language);
    program.show(project.folder, guide);
    expect(await run(project, "preview")).toMatch(/\+ 3 to create/);
    const [overview = ""] = guidePrograms("../_index", language);
    program.show(project.folder, overview);
    expect(await run(project, "preview")).toMatch(/\+ 2 to create/);
    writeFileSync(join(project.folder, program.file), own);
  });

  test("previews write nothing, and up makes the whole account", async (context) => {
    const project = await started(context);
    expect(await project.writes()).toEqual([]);
    await run(project, "up", "--yes", "--skip-preview");
    const counts = Object.entries(await project.collections()).map(([name, of]) => [
      name,
      of.length,
    ]);
    expect(Object.fromEntries(counts)).toMatchObject({
      authentications: 1,
      clientapplications: 2,
      participants: 1,
      channels: 1,
      orchestrations: 1,
      accounts: 1,
    });
  });

  test("an object is imported with code that changes nothing", async (context) => {
    const project = await started(context);
    const { id } = await project.byHand("POST", "/channels", channel("custom.web", "Web chat"));
    const before = await project.writes();
    const line = importChannel.map((word) => word.replace("<id>", String(id)));
    await run(project, ...line, "--yes", "--protect=false", "--out", "imported.txt");
    program.add(project.folder, readFileSync(join(project.folder, "imported.txt"), "utf8"));
    await run(project, "preview", "--expect-no-changes");
    expect(await project.writes()).toEqual(before);
  });

  test("no output and no file shows a secret", async (context) => {
    const project = await started(context);
    const secrets = [secret, project.emulator.clientSecret];
    expect(said.length).toBeGreaterThan(6);
    expect(secretsIn(said.join("\n"), secrets)).toEqual([]);
    expect(leakingFiles(project.folder, secrets)).toEqual([]);
  });
});
