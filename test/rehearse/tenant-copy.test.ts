import { expect, test } from "vitest";
import { deployingScopes, type RehearsedAccount } from "../../cli/rehearse/accounts.js";
import { copyAccount } from "../../cli/rehearse/emulated-account.js";
import { hideSecrets } from "../../emulator/objects/secrets.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { authentication } from "../../provider/resources/authentication.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/operations.js";
import { hubEnvironment, hubSettings } from "./hub-environment.js";

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
      held("Authentication", "login", { name: "login", basicAuth: { password: "p" } }),
    ],
  },
};

interface Seen {
  /** Kinds whose lists are refused. */
  readonly refused?: readonly string[];
  readonly objectsOf?: (kind: string) => readonly Readonly<Record<string, unknown>>[];
}

const accountOf = ({ refused = [], objectsOf = () => [] }: Seen): RehearsedAccount => ({
  ...{ names: [undefined], settings: hubSettings(), scopes: defaultScopes },
  reading: {
    ...{ readAt: "", baseUrl: hubEnvironment.CONVERSATION_BASE_URL },
    ...{ consistent: true, openEnds: [] },
    kinds: resources.map((definition) => ({
      definition,
      objects: new Map(objectsOf(definition.kind).map((object) => [String(object.id), object])),
      ...(refused.includes(definition.kind) ? { problem: "the scope is missing" } : {}),
    })),
  },
});

/** An account whose channels come only in part. */
const objectsOf = (kind: string) =>
  kind === "Channel" ? [{ id: "listed", type: "custom.web2", displayName: "Live" }] : [];

test("what a refused list hides is in the copy as far as the stack knows it", () => {
  const { objects, missing } = copyAccount(
    accountOf({ objectsOf, refused: ["Channel"] }),
    document,
  );
  expect(objects.channels?.map(({ id, type }) => [id, type])).toEqual([
    ["listed", "custom.web2"],
    ["mine", "custom.web"],
  ]);
  expect(objects.participants).toEqual([]);
  expect(missing).toEqual([
    "The copy contains only the channels in the stack's state: the scope is missing",
  ]);
});

test("what a whole list does not have is gone", () => {
  const { objects, missing } = copyAccount(accountOf({ objectsOf }), document);
  expect(objects.channels?.map(({ id }) => id)).toEqual(["listed"]);
  expect(missing).toEqual([]);
});

test.each(["mask", "omit", "echo"] as const)("a service that shows secrets so: %s", (way) => {
  const login = { id: "login", name: "login", type: "basic" };
  const whole = { ...login, basicAuth: { username: "u", password: "p" } };
  const shown = hideSecrets(authentication.fields, whole, way);
  const account = accountOf({
    objectsOf: (kind) => (kind === "Authentication" ? [shown] : []),
  });
  expect(copyAccount(account, document).secrets).toBe(way);
});

const { manage, read, interactionManage } = scopes;

test.each([
  ["named by the token URL", "", [manage, interactionManage], [manage, interactionManage]],
  ["asked for, if none are named", `${manage} ${read}`, [], [manage, read]],
  ["all, if none are named in words of the specification", "", ["everything"], defaultScopes],
])("the scopes of the run are %s", (_, scope, granted, expected) => {
  expect(deployingScopes({ scope }, granted)).toEqual({ scopes: expected });
});

test("a client that may only read is not the one that deploys", () => {
  expect(deployingScopes({ scope: "" }, [read])).toEqual({
    scopes: defaultScopes,
    assumed: expect.stringContaining("another client deploys, with all of the service's scopes"),
  });
});
