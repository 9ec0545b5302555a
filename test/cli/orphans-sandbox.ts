import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type OrphansOptions, runOrphans } from "../../cli/repair/orphans.js";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { markOf, markText } from "../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../provider/resources/index.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";
import { ownershipOf } from "./stack-documents.js";
import { shellScript, temporaryFolder } from "./temporary-folder.js";

type Json = Record<string, unknown>;

interface SandboxOptions {
  readonly emulator?: EmulatorOptions;
  /** Default: a file backend, whose lock can be seen. */
  readonly backend?: string;
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The command `orphans` between an emulator and a CLI that prints what the test says. */
export const orphansSandbox = async (options: SandboxOptions = {}) => {
  const folder = temporaryFolder();
  const emulator = await startEmulator({ clock: "manual", ...options.emulator });
  onTestFinished(() => emulator.close());
  mkdirSync(join(folder, ".pulumi", "stacks"), { recursive: true });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "exports"), "");
  const url = options.backend ?? `file://${folder}`;
  shellScript(
    join(folder, "pulumi"),
    `cd ${folder}`,
    `case "$*" in`,
    `whoami*) echo '{"url":"${url}"}';;`,
    `"stack --show-name"*) echo prod;;`,
    `"stack ls"*) cat stacks.json;;`,
    `"config"*) echo '{}';;`,
    `*"--stack other --non"*) cat other.json;;`,
    // What a test prepares for a later look becomes true at that look.
    `"stack export"*) echo x >> exports; n=$(wc -l < exports); [ -e "then-$n" ] && sh "then-$n"; cat state.json;;`,
    `*) exit 1;; esac`,
  );
  const environment = { ...emulatorEnvironment(emulator), ...options.environment };
  const settings = readSettings({ environment, config: () => undefined });
  let now = 0;
  const clock: Clock = {
    now: () => now,
    wall: () => now,
    sleep: async (ms) => {
      now += ms;
      emulator.advance(ms);
    },
  };
  const service = connectService(settings, { clock });
  onTestFinished(() => service.close());
  const env = { ...environment, PATH: `${folder}:/bin:/usr/bin`, XDG_CACHE_HOME: folder };
  const definitionOf = (kind: string) => {
    const found = resources.find((definition) => definition.kind === kind);
    if (!found) throw new Error(kind);
    return found;
  };
  const locks = join(folder, ".pulumi", "locks", "organization", "shop", "prod");
  const control = async (path: string): Promise<unknown> =>
    (await fetch(emulator.controlUrl + path)).json();
  return {
    run: (more: OrphansOptions = {}) => runOrphans({ folder, env, clock, ...more }),
    /** Writes what the stacks hold; `other` is a second stack, or one that cannot be read. */
    states: (own: string, other?: string): void => {
      const names = other === undefined ? ["prod"] : ["prod", "other"];
      const list = names.map((name) => ({ name, current: name === "prod" }));
      writeFileSync(join(folder, "stacks.json"), JSON.stringify(list));
      writeFileSync(join(folder, "state.json"), own);
      writeFileSync(join(folder, "other.json"), other ?? "");
    },
    /** Before the export of that number, counted from 1, the own state becomes this. */
    thenState: (look: number, own: string): void => {
      writeFileSync(join(folder, `later-${look}`), own);
      writeFileSync(join(folder, `then-${look}`), `cp later-${look} state.json\n`);
    },
    /** Before the export of that number, counted from 1, a run takes the lock. */
    thenLock: (look: number): void => {
      writeFileSync(
        join(folder, `then-${look}`),
        `mkdir -p ${locks}; echo '{}' > ${locks}/1.json\n`,
      );
    },
    lock: (): void => {
      mkdirSync(locks, { recursive: true });
      writeFileSync(join(locks, "1.json"), "{}");
    },
    /** Makes an object with the mark of a resource of a stack; `owner` undefined: with none. */
    make: async (
      kind: string,
      name: string,
      body: Json,
      owner: string | undefined = `${ownershipOf("prod")}/${name}`,
    ) => {
      const marked = owner ? { description: `by hand ${markText(markOf(kind, owner))}` } : {};
      return (await service.create(definitionOf(kind), { ...body, ...marked })).id;
    },
    objects: async (collection: string): Promise<Json[]> => {
      const { objects } = (await control("/snapshot")) as { objects: Record<string, Json[]> };
      return objects[collection] ?? [];
    },
    calls: async (): Promise<string[]> => {
      const log = (await control("/log")) as { method: string; template: string; status: number }[];
      return log.map(({ method, template, status }) => `${method} ${template} ${status}`);
    },
  };
};

export const channel = (type: string): Json => ({ type, displayName: "Web", icon: "aVZC" });

export const authentication = (name: string): Json => ({
  name,
  type: "basic",
  basicAuth: { username: "hub", password: "p" },
});

export const application = (name: string, auth: string): Json => ({
  name,
  roles: [
    {
      name: "custom_bot",
      version: "v3",
      callback: "https://x.example.com/",
      notificationEmail: "a@b.example",
      authentication: { id: auth },
    },
  ],
});
