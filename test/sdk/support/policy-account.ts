import { unknownCheckingProxy } from "@pulumi/policy";
import fc from "fast-check";
import { unknownValue } from "../../../provider/kernel/stand-ins.js";
import { typeToken } from "../../../provider/pointer.js";
import { options, resource } from "./policy-resources.js";

export type Json = Record<string, unknown>;

/** A program as data: what a rule reads stands where it can be changed. */
export interface PolicyAccount {
  authentications: Json[];
  applications: { name: string; roles: Json[]; uses: number[] }[];
  participants: { type: string; application: number }[];
  places: { bots: { application: number; participant: number }[]; customer: number; agent: number };
  isProtected: boolean;
  /** Values of the stack's file, in clear text. */
  clear: string[];
  /** Whether the objects have their ids; else a preview does not know them yet. */
  hasIds: boolean;
}

export const role = (name: string, authentication: number): Json => ({
  name,
  version: "v3",
  callback: `https://${name.replace("_", "-")}.acme.io/messages`,
  notificationEmail: "ops@acme.io",
  authentication: { of: authentication },
});

export const secretOf = (place: number): string => `hidden-${place}-payload`;

/** A setup in which nothing is to be said. */
export const right: fc.Arbitrary<PolicyAccount> = fc
  .record({
    bots: fc.array(fc.constantFrom("custom_bot", "platform_bot"), { minLength: 1, maxLength: 3 }),
    agent: fc.constantFrom("custom_agent", "platform_agent"),
    also: fc.boolean(),
    hasIds: fc.boolean(),
  })
  .map(({ bots, agent, also, hasIds }) => {
    const sides = ["customer", agent, ...bots];
    const applications = sides.map((side, place) => ({
      name: `app-${place}`,
      roles: [
        role(side, place),
        ...(also ? [role("business_notification", sides.length + place)] : []),
      ],
      uses: also ? [place, sides.length + place] : [place],
    }));
    return {
      authentications: Array.from({ length: sides.length * 2 }, (_, place) => ({
        type: "oauth2",
        oauth2: {
          tokenRequestUrl: "https://acme.io/token",
          payload: { client_secret: secretOf(place) },
        },
      })),
      applications,
      participants: bots.map((type, place) => ({ type, application: place + 2 })),
      places: {
        bots: bots.map((_, place) => ({ application: place + 2, participant: place })),
        customer: 0,
        agent: 1,
      },
      isProtected: true,
      clear: ["europe-west", "https://acme.io/token"],
      hasIds,
    };
  });

/** The program as the engine shows it to the policies, its resources of one door. */
export const shown = (declared: PolicyAccount, token = typeToken) => {
  const id = (kind: string, place: number) =>
    declared.hasIds ? `${kind}-id-${place}` : unknownValue;
  const withIds = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withIds);
    if (typeof value !== "object" || value === null) return value;
    if ("of" in value) return id("authentication", Number(value.of));
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withIds(part)]));
  };
  const made = (kind: string, name: string, props: Json, uses = {}) =>
    resource(kind, name, unknownCheckingProxy(withIds(props)), uses, "prod", token);
  const authentications = declared.authentications.map((props, place) =>
    made("Authentication", `auth-${place}`, props),
  );
  const applications = declared.applications.map(({ name, roles, uses }) =>
    made(
      "ClientApplication",
      name,
      { roles },
      { roles: uses.flatMap((at) => authentications[at] ?? []) },
    ),
  );
  const participants = declared.participants.map(({ type, application }, place) =>
    made(
      "Participant",
      `bot-${place}`,
      { type, application: id("application", application) },
      { application: [applications[application]] },
    ),
  );
  const { bots, customer, agent } = declared.places;
  const orchestration = made(
    "Orchestration",
    "support",
    {
      applications: {
        botConfiguration: {
          bots: bots.map((bot) => ({
            application: id("application", bot.application),
            participant: id("participant", bot.participant),
            onEscalation: { agent: id("application", agent) },
          })),
        },
        customerConfiguration: { customer: id("application", customer) },
        agentConfiguration: { agents: [id("application", agent)] },
      },
    },
    {
      applications: [
        ...bots.flatMap((bot) => [applications[bot.application], participants[bot.participant]]),
        applications[customer],
        applications[agent],
      ],
    },
  );
  const account = {
    ...made("Account", "shop", { address: "shop" }),
    opts: { ...options, protect: declared.isProtected },
  };
  return [...authentications, ...applications, ...participants, orchestration, account];
};
