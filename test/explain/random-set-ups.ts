import fc from "fast-check";
import type { JsonObject } from "../../provider/kernel/json.js";

/** Objects by collection, as a snapshot of the emulator has them. */
export type SetUpSnapshot = Readonly<Record<string, readonly JsonObject[]>>;

const id = (letter: string, place: number): string =>
  `${letter}0000000-0000-4000-8000-00000000000${place}`;

const ids = (letter: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => id(letter, place));

const [applications, participants, channels, orchestrations, accounts] = [
  ids("a", 4),
  ids("b", 3),
  ids("c", 2),
  ids("d", 3),
  ids("e", 3),
];

/** Mostly active, as objects mostly are. */
const active = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constant({ active: true }) },
  { weight: 1, arbitrary: fc.constant({ active: false }) },
);

const roleNames = ["customer", "custom_bot", "platform_bot", "custom_agent", "platform_agent"];

const stamped = (object: JsonObject): JsonObject => ({
  created: "2026-01-01T00:00:00.000Z",
  modified: "2026-01-01T00:00:00.000Z",
  ...object,
});

const applicationOf = (url: string, own: string, place: number) =>
  fc
    .record({ roles: fc.subarray(roleNames, { minLength: 1 }), more: active })
    .map(({ roles, more }) =>
      stamped({
        id: own,
        name: `application ${place}`,
        ...more,
        roles: roles.map((name) => ({
          name,
          version: "v3",
          callback: `${url}/${place}/${name}`,
          notificationEmail: "ops@example.com",
        })),
      }),
    );

const application = fc.constantFrom(...applications);

const participantOf = (own: string, place: number) =>
  fc
    .record({ type: fc.constantFrom("custom_bot", "platform_bot"), of: application, more: active })
    .map(({ type, of, more }) =>
      stamped({ id: own, name: `bot ${place}`, type, application: { id: of }, ...more }),
    );

const direction = fc.record(
  {
    features: fc.subarray(["typing_events", "attachments"]),
    richMessageTypes: fc.subarray(["listpicker", "quickreply", "authentication", "form"]),
    midChatAuth: fc.boolean(),
  },
  { requiredKeys: [] },
);

const channelOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      restrictions: fc.option(
        fc.record({ inbound: direction, outbound: direction }, { requiredKeys: [] }),
        { nil: undefined, freq: 1 },
      ),
    })
    .map(({ more, restrictions }) =>
      stamped({
        id: own,
        type: `custom.c${place}`,
        displayName: `C${place}`,
        icon: "aVZC",
        ...more,
        ...(restrictions ? { restrictions } : {}),
      }),
    );

const bot = fc
  .record({
    id: application,
    participant: fc.constantFrom(...participants),
    agent: fc.option(application, { nil: undefined }),
  })
  .map(({ agent, participant, ...rest }) => ({
    ...rest,
    participant: { id: participant },
    ...(agent ? { onEscalation: { agent: { id: agent } } } : {}),
  }));

const orchestrationOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      bots: fc.option(fc.array(bot, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 2 }),
      customer: fc.option(application, { nil: undefined, freq: 5 }),
      agents: fc.option(fc.array(application, { minLength: 1, maxLength: 3 }), { nil: undefined }),
    })
    .map(({ more, bots, customer, agents }) =>
      stamped({
        id: own,
        name: `orchestration ${place}`,
        ...more,
        applications: {
          ...(bots ? { botConfiguration: { bots } } : {}),
          ...(customer ? { customerConfiguration: { customer: { id: customer } } } : {}),
          agentConfiguration: {
            agents: (agents ?? (bots ? [] : [applications[0]])).map((each) => ({ id: each })),
          },
        },
      }),
    )
    .map((object) => withoutEmptyAgents(object));

/** No agents at all are left out, as the service asks for at least one. */
const withoutEmptyAgents = (object: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(object), (key, value) =>
    key === "agentConfiguration" && value.agents.length === 0 ? undefined : value,
  );

const accountOf = (own: string, place: number) =>
  fc
    .record({
      more: active,
      address: fc.constantFrom("one", "two"),
      channel: fc.constantFrom(...channels),
      orchestration: fc.option(fc.constantFrom(...orchestrations), { nil: undefined, freq: 8 }),
    })
    .map(({ more, address, channel, orchestration }) =>
      stamped({
        id: own,
        name: `account ${place}`,
        ...more,
        address,
        channel: { id: channel },
        chatConfigurations: orchestration
          ? { orchestration: { id: orchestration } }
          : { timeout: 30 },
      }),
    );

/** Random set-ups whose callbacks all are below one address. */
export const randomSetUps = (url: string): fc.Arbitrary<SetUpSnapshot> => {
  const all = <T>(of: (own: string, place: number) => fc.Arbitrary<T>, which: readonly string[]) =>
    fc.tuple(...which.map(of));
  return fc.record({
    authentications: fc.constant([]),
    clientapplications: all((own, place) => applicationOf(url, own, place), applications),
    participants: all(participantOf, participants),
    channels: all(channelOf, channels),
    orchestrations: all(orchestrationOf, orchestrations),
    accounts: all(accountOf, accounts),
  });
};
