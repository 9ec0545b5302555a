import { typeToken } from "../../../provider/kernel/type-tokens.js";

type Json = Record<string, unknown>;

/** A resource of a small program; `inputs` are made when the ids of what it depends on are known. */
export interface Declared {
  readonly kind: string;
  readonly name: string;
  readonly after: readonly string[];
  readonly inputs: (idOf: (name: string) => string) => Json;
}

const declared = (
  kind: string,
  name: string,
  after: readonly string[],
  inputs: Declared["inputs"],
): Declared => ({ kind, name, after, inputs: (idOf) => ({ name, ...inputs(idOf) }) });

const authentication = (name: string): Declared =>
  declared("Authentication", name, [], () => ({
    type: "basic",
    basicAuth: { username: "hub", password: "hidden" },
  }));

const application = (name: string, role: string, auth: string): Declared =>
  declared("ClientApplication", name, [auth], (idOf) => ({
    roles: [
      {
        name: role,
        version: "v3",
        callback: `https://${name}.example.com/`,
        notificationEmail: "ops@example.com",
        authentication: idOf(auth),
      },
    ],
  }));

const participant = (name: string, app: string): Declared =>
  declared("Participant", name, [app], (idOf) => ({ type: "custom_bot", application: idOf(app) }));

const channel = (name: string): Declared => ({
  kind: "Channel",
  name,
  after: [],
  inputs: () => ({ type: `custom.${name}`, displayName: name, icon: "aVZC" }),
});

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** One resource of each kind, and a few more: what a first setup looks like. */
const small: readonly Declared[] = [
  authentication("basic"),
  authentication("second"),
  application("kiosk", "customer", "basic"),
  application("bot", "custom_bot", "second"),
  application("desk", "custom_agent", "basic"),
  participant("orders", "bot"),
  participant("returns", "bot"),
  channel("web"),
  declared("Orchestration", "flow", ["kiosk", "bot", "orders"], (idOf) => ({
    applications: {
      customerConfiguration: { customer: idOf("kiosk") },
      botConfiguration: {
        bots: [{ application: idOf("bot"), participant: idOf("orders") }],
      },
    },
  })),
  declared("Account", "shop", ["web", "flow"], (idOf) => ({
    address: "shop",
    channel: idOf("web"),
    chatConfigurations: { orchestration: idOf("flow"), entryPoint: "1007" },
  })),
];

const manyParticipants: readonly Declared[] = [
  authentication("basic"),
  application("bot", "custom_bot", "basic"),
  ...times(30, (index) => participant(`bot-${index}`, "bot")),
];

const wide: readonly Declared[] = [
  ...times(12, (index) => channel(`web${index}`)),
  ...times(12, (index) => authentication(`auth-${index}`)),
  ...times(12, (index) => application(`app-${index}`, "customer", `auth-${index}`)),
];

export const programs = { small, "30 participants": manyParticipants, wide };

/** The URN of a resource as Pulumi makes it. */
export const urnOf = ({ kind, name }: Pick<Declared, "kind" | "name">): string =>
  `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`;

const asPulumi = (program: readonly Declared[], { kind, name, after }: Declared) => ({
  urn: urnOf({ kind, name }),
  custom: true,
  type: typeToken(kind),
  dependencies: program.filter((other) => after.includes(other.name)).map(urnOf),
});

/** What `pulumi preview --json` would print of a program in which all resources take the same step. */
export const previewOf = (program: readonly Declared[], op: string): string =>
  JSON.stringify({
    steps: program.map((each) => {
      const resource = asPulumi(program, each);
      return { op, urn: resource.urn, newState: resource };
    }),
    changeSummary: { [op]: program.length },
  });

/** What `pulumi stack export` would print when all of a program is there. */
export const stateOf = (program: readonly Declared[]): string =>
  JSON.stringify({
    version: 3,
    deployment: { resources: program.map((each) => asPulumi(program, each)) },
  });
