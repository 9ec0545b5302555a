import fc from "fast-check";
import { roleOf } from "./forms.js";
import type { StrictService } from "./strict-service.js";

/** SPEC holds what the program declares. */
export const accountProgram = `
const c = require("pulumi-conversation");
const spec = JSON.parse(process.env.SPEC);
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const made = {};
const make = {
  auth: ({ name, text }) => new c.Authentication(name, { name, description: text, basicAuth: { username: "hub", password: "pw-" + name } }),
  app: ({ name, text, uses: [auth] }) => new c.ClientApplication(name, { name, description: text, roles: [{ ...role, authentication: made[auth] }] }),
  bot: ({ name, text, uses: [app] }) => new c.Participant(name, { name, description: text, type: "custom_bot", application: made[app] }),
  channel: ({ name, text }) => new c.Channel(name, { type: "custom." + name, description: text, displayName: name, icon: "aVZC" }),
  flow: ({ name, text, uses: [app] }) => new c.Orchestration(name, { name, description: text, applications: { agentConfiguration: { agents: [made[app]] } } }),
  shop: ({ name, text, uses: [channel, flow] }) => new c.Account(name, { name, description: text, address: name + "-01", channel: made[channel],
    chatConfigurations: { orchestration: made[flow], entryPoint: "1007", timeout: 30 } }),
};
for (const item of spec) made[item.name] = make[item.kind](item);
`;

/** An object that the program declares. */
export interface DeclaredItem {
  readonly kind: "auth" | "app" | "bot" | "channel" | "flow" | "shop";
  readonly name: string;
  readonly text: string;
  readonly uses: readonly string[];
}

const item = (
  kind: DeclaredItem["kind"],
  number: number,
  version: number,
  ...uses: readonly string[]
): DeclaredItem => ({ kind, name: `${kind}${number}`, text: `version ${version}`, uses });

/** Items without what uses something that is not there. */
const closed = (items: readonly DeclaredItem[]): readonly DeclaredItem[] => {
  const names = new Set(items.map(({ name }) => name));
  const kept = items.filter(({ uses }) => uses.every((name) => names.has(name)));
  return kept.length === items.length ? kept : closed(kept);
};

const all = (version: number): readonly DeclaredItem[] => [
  item("auth", 1, version),
  item("auth", 2, version),
  item("app", 1, version, "auth1"),
  item("app", 2, version, "auth2"),
  item("bot", 1, version, "app1"),
  item("bot", 2, version, "app2"),
  item("channel", 1, version),
  item("channel", 2, version),
  item("flow", 1, version, "app1"),
  item("shop", 1, version, "channel1", "flow1"),
];

/** What stands in the way, put there by somebody else. */
export type SeededObstacle = "user" | "name" | "limit" | "hidden";

/** A change of a random account, and what stands in its way. */
export interface SeededChange {
  readonly before: readonly DeclaredItem[];
  readonly after: readonly DeclaredItem[];
  readonly obstacles: readonly SeededObstacle[];
  /** Which of the objects in question each obstacle concerns. */
  readonly choice: number;
}

const obstacle = fc.constantFrom<SeededObstacle>("user", "user", "name", "limit", "hidden");

export const seededChange: fc.Arbitrary<SeededChange> = fc
  .record({
    before: fc.subarray([...all(1)], { minLength: 5 }),
    names: fc.subarray(
      all(1).map(({ name }) => name),
      { minLength: 4 },
    ),
    changed: fc.subarray(all(1).map(({ name }) => name)),
    obstacles: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.uniqueArray(obstacle, { minLength: 1, maxLength: 2 }) },
    ),
    choice: fc.nat(100),
  })
  .map(({ before, names, changed, obstacles, choice }) => ({
    before: closed(before),
    after: closed(
      all(1)
        .filter(({ name }) => names.includes(name))
        .map((each) => (changed.includes(each.name) ? { ...each, text: "version 2" } : each)),
    ),
    obstacles,
    choice,
  }));

/** Collections of the service. */
export const collections: Readonly<Record<DeclaredItem["kind"], string>> = {
  auth: "authentications",
  app: "clientapplications",
  bot: "participants",
  channel: "channels",
  flow: "orchestrations",
  shop: "accounts",
};

const nameOf = ({ kind, name }: DeclaredItem): string =>
  kind === "channel" ? `custom.${name}` : name;

const idOf = (service: StrictService, declared: DeclaredItem): string => {
  const objects = service.objects(collections[declared.kind]);
  const key = declared.kind === "channel" ? "type" : "name";
  return String(objects.find((object) => object[key] === nameOf(declared))?.id);
};

const pick = <T>(list: readonly T[], choice: number): T | undefined => list[choice % list.length];

const id = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

const times = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };

/** Somebody uses an object that the change deletes. */
const plantUser = (service: StrictService, { before, after, choice }: SeededChange): void => {
  const gone = before.filter(({ name }) => !after.some((other) => other.name === name));
  const target = pick(
    gone.filter(({ kind }) => ["auth", "app", "channel", "flow"].includes(kind)),
    choice,
  );
  if (!target) return;
  const used = { id: idOf(service, target) };
  const plans: Partial<Record<DeclaredItem["kind"], () => void>> = {
    auth: () =>
      service.plant("clientapplications", {
        ...{ id: id(1), ...times, name: "made by hand 日本", active: true },
        roles: [roleOf("custom_bot", { authentication: used })],
      }),
    app: () =>
      service.plant("orchestrations", {
        ...{ id: id(2), ...times, name: "made by hand", active: true },
        applications: { agentConfiguration: { agents: [used] } },
      }),
    channel: () =>
      service.plant("accounts", {
        ...{ id: id(3), ...times, name: "made by hand", address: "hand-01", active: true },
        channel: used,
        chatConfigurations: { orchestration: { id: id(4) }, entryPoint: { id: "1" }, timeout: 30 },
      }),
    flow: () =>
      service.plant("accounts", {
        ...{ id: id(5), ...times, name: "made by hand too", address: "hand-02", active: true },
        channel: { id: id(6) },
        chatConfigurations: { orchestration: used, entryPoint: { id: "1" }, timeout: 30 },
      }),
  };
  plans[target.kind]?.();
};

/** Somebody has the name of an object that the change makes. */
const plantNamesake = (service: StrictService, { before, after, choice }: SeededChange): void => {
  const fresh = after.filter(
    ({ name, kind }) => !before.some((other) => other.name === name) && kind !== "flow",
  );
  const target = pick(fresh, choice);
  if (!target) return;
  const members = {
    auth: { type: "basic", basicAuth: { username: "u", password: "p" } },
    app: { roles: [roleOf("custom_bot")] },
    bot: { type: "custom_bot", application: { id: id(8) } },
    channel: { displayName: "x", icon: "aVZC" },
    flow: {},
    shop: {
      ...{ address: "hand-03", channel: { id: id(9) } },
      chatConfigurations: { orchestration: { id: id(4) }, entryPoint: { id: "1" } },
    },
  }[target.kind];
  const key = target.kind === "channel" ? "type" : "name";
  const whole = { id: id(7), ...times, active: true, [key]: nameOf(target), ...members };
  service.plant(collections[target.kind], whole);
};

/** Somebody added a header with a secret value to an application that the change updates. */
const hideMember = (service: StrictService, { before, choice }: SeededChange): void => {
  const target = pick(
    before.filter(({ kind }) => kind === "app"),
    choice,
  );
  const object = service
    .objects("clientapplications")
    .find(({ name }) => target && name === target.name);
  const roles = Array.isArray(object?.roles) ? object.roles : [];
  if (target && roles.length > 0)
    service.change("clientapplications", target.name, {
      roles: [{ ...roles[0], headers: [{ name: "X-By-Hand", value: "hidden" }] }],
    });
};

/** Puts the obstacles in the way that concern the service. @returns what the program then declares */
export const seedObstacles = (
  service: StrictService,
  change: SeededChange,
): readonly DeclaredItem[] => {
  if (change.obstacles.includes("user")) plantUser(service, change);
  if (change.obstacles.includes("name")) plantNamesake(service, change);
  if (change.obstacles.includes("hidden")) hideMember(service, change);
  const long = change.obstacles.includes("limit") ? pick(change.after, change.choice) : undefined;
  return change.after.map((each) => (each === long ? { ...each, text: "x".repeat(5000) } : each));
};
