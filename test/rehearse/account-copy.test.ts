import { expect, test } from "vitest";
import type { TenantReading } from "../../cli/rehearse/accounts.js";
import { copyAccount, stateBodies } from "../../cli/rehearse/emulated-account.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { typeToken } from "../../provider/pointer.js";
import { resources } from "../../provider/resources/index.js";
import { readSettings } from "../../provider/service/settings.js";
import { hubEnvironment } from "./hub-environment.js";

const settingsOf = (profile?: string) =>
  readSettings(
    {
      config: () => undefined,
      environment: {
        ...hubEnvironment,
        CONVERSATION_EU_BASE_URL: "https://eu.example.com/v3",
      },
    },
    profile,
  );

const urn = (kind: string, name: string) => `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`;

const held = (kind: string, id: string, inputs: Record<string, unknown>, more = {}) => ({
  ...{ urn: urn(kind, id), type: typeToken(kind), id, custom: true, inputs, ...more },
});

const document = {
  version: 3,
  deployment: {
    resources: [
      held("Channel", "mine", { type: "custom.web", displayName: "Web", icon: "aVZC" }),
      held("Channel", "listed", { type: "custom.old", displayName: "Old", icon: "aVZC" }),
      held("Channel", "looked-up", {}, { external: true }),
      held("Channel", "eu", { type: "custom.eu", displayName: "EU", profile: "eu" }),
      held("Participant", "gone", { name: "gone" }),
    ],
  },
};

/** An account whose channels come only in part, and of which everything else could be read. */
const readingOf = (problem?: string): TenantReading => ({
  settings: settingsOf(),
  roundTripMs: 1,
  account: {
    ...{ consistent: true, openEnds: [] },
    ...{ readAt: new Date(0).toISOString(), baseUrl: settingsOf().baseUrl },
    kinds: resources.map((definition) => ({
      definition,
      objects: new Map(
        definition.kind === "Channel"
          ? [["listed", { id: "listed", type: "custom.web2", displayName: "Live" }]]
          : [],
      ),
      ...(definition.kind === "Channel" && problem !== undefined
        ? { problem, error: new ConversationError("FORBIDDEN", problem) }
        : {}),
    })),
  },
});

test("what a refused list hides is in the copy as far as the stack knows it", () => {
  const bodies = stateBodies(document, settingsOf());
  const { objects, missing } = copyAccount(readingOf("the scope is missing"), bodies);
  expect(objects.channels?.map(({ id, type }) => [id, type])).toEqual([
    ["listed", "custom.web2"],
    ["mine", "custom.web"],
  ]);
  expect(objects.participants).toEqual([]);
  expect(missing).toEqual([
    "The channels are missing in the copy, but for those that the state of the stack has: the scope is missing",
  ]);
});

test("where the list is whole, what it does not have is gone", () => {
  const { objects, missing } = copyAccount(readingOf(), stateBodies(document, settingsOf()));
  expect(objects.channels?.map(({ id }) => id)).toEqual(["listed"]);
  expect(missing).toEqual([]);
});
