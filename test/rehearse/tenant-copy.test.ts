import { expect, test } from "vitest";
import {
  type ClientReading,
  deployingClient,
  parseScopes,
  refusedLists,
  scopesInUse,
} from "../../cli/rehearse/accounts.js";
import {
  copyAccount,
  membersWithSecrets,
  stateBodies,
} from "../../cli/rehearse/emulated-account.js";
import { hideSecrets } from "../../emulator/objects/secrets.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { typeToken } from "../../provider/kernel/type-tokens.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/operations.js";
import { run } from "../cli/session.js";
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
    ],
  },
};

interface Seen {
  /** Scopes that the token URL names. */
  readonly granted?: string;
  readonly asked?: string;
  /** Kinds whose lists are forbidden. */
  readonly refused?: readonly string[];
  readonly objectsOf?: (kind: string) => readonly Readonly<Record<string, unknown>>[];
}

const one = { id: "1", created: "", modified: "" };

const readingOf = ({ granted, asked = "", refused = [], ...seen }: Seen): ClientReading => ({
  settings: hubSettings({ CONVERSATION_SCOPE: asked }),
  ...(granted === undefined ? {} : { scopes: granted.split(" ") }),
  account: {
    ...{
      readAt: "",
      baseUrl: hubEnvironment.CONVERSATION_BASE_URL,
      consistent: true,
      openEnds: [],
    },
    kinds: resources.map((definition) => {
      const { kind } = definition;
      const isRefused = refused.includes(kind);
      const objects = seen.objectsOf?.(kind) ?? (isRefused ? [] : [one]);
      const error = new ConversationError("FORBIDDEN", "the scope is missing");
      return {
        ...{ definition, objects: new Map(objects.map((object) => [String(object.id), object])) },
        ...(isRefused ? { problem: error.message, error } : {}),
      };
    }),
  },
});

/** An account whose channels come only in part. */
const objectsOf = (kind: string) =>
  kind === "Channel" ? [{ id: "listed", type: "custom.web2", displayName: "Live" }] : [];
const settings = hubSettings({ CONVERSATION_EU_BASE_URL: "https://eu.example.com/v3" });

test("what a refused list hides is in the copy as far as the stack knows it", () => {
  const reading = readingOf({ objectsOf, refused: ["Channel"] });
  const { objects, missing } = copyAccount(
    reading,
    stateBodies(document, { settings, alsoNamed: [] }),
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
  const { objects, missing } = copyAccount(
    readingOf({ objectsOf }),
    stateBodies(document, { settings, alsoNamed: [] }),
  );
  expect(objects.channels?.map(({ id }) => id)).toEqual(["listed"]);
  expect(missing).toEqual([]);
});

const oauth = {
  name: "bot",
  type: "oauth2",
  oauth2: {
    tokenRequestUrl: "https://bot.example.com/token",
    headers: [
      { name: "X-Key", value: "key" },
      { name: "X-Other", value: "other" },
    ],
    payload: "secret payload",
  },
};

const application = {
  name: "app",
  roles: [
    {
      name: "custom_bot",
      callback: "https://a.example.com/",
      headers: [{ name: "X-A", value: "first" }],
    },
    {
      name: "customer",
      callback: "https://b.example.com/",
      headers: [{ name: "X-A", value: "second" }],
    },
  ],
};

test.each(["mask", "omit", "echo"] as const)(
  "what a service hides (%s) and the state knows is there in the copy",
  (way) => {
    for (const [{ fields }, whole] of [
      [authentication, oauth],
      [clientApplication, application],
    ] as const) {
      const seen = new Set<"mask" | "omit" | "echo">();
      const copy = membersWithSecrets(fields, hideSecrets(fields, whole, way), whole, seen);
      expect(copy).toEqual(whole);
      expect([...seen]).toEqual([way]);
    }
  },
);

test("what nobody knows stays hidden, and an object that must have a secret has one", () => {
  const seen = new Set<"mask" | "omit" | "echo">();
  const { fields } = authentication;
  const basic = { name: "a", type: "basic", basicAuth: { username: "u" } };
  expect(membersWithSecrets(fields, basic, {}, seen)).toEqual({
    ...basic,
    basicAuth: { username: "u", password: "not-known" },
  });
  const masked = { ...basic, basicAuth: { username: "u", password: "••••••" } };
  expect(membersWithSecrets(fields, masked, {}, seen)).toEqual(masked);
  expect([...seen]).toEqual(["mask"]);
});

test("what was changed outside is copied as the service shows it", () => {
  const seen = new Set<"mask" | "omit" | "echo">();
  const { fields } = authentication;
  const live = { ...oauth, oauth2: { ...oauth.oauth2, payload: "changed outside" } };
  expect(membersWithSecrets(fields, live, oauth, seen)).toEqual(live);
});

const { manage, read, interactionManage } = scopes;

test.each<[string, Seen, readonly string[]]>([
  [
    "named by the token URL",
    { granted: `${read} ${interactionManage}` },
    [read, interactionManage],
  ],
  ["asked for, if none are named", { asked: `${manage} ${read}` }, [manage, read]],
  [
    "all, if none are named in words of the specification",
    { granted: "everything" },
    defaultScopes,
  ],
])("the scopes in use are %s", (_, seen, expected) => {
  expect(scopesInUse(readingOf(seen))).toEqual(expected);
});

test("a client that may write deploys itself; what it was refused it will be refused again", () => {
  for (const seen of [{ granted: `${manage} ${read}` }, { asked: `${manage} ${read}` }, {}]) {
    const reading = readingOf({ ...seen, refused: ["Channel"] });
    const client = deployingClient(reading);
    expect(client).toEqual({ scopes: scopesInUse(reading), isOther: false });
    expect(refusedLists(reading, client).map(({ definition }) => definition.kind)).toEqual([
      "Channel",
    ]);
  }
});

test.each<Seen>([
  { granted: read, refused: ["Authentication"] },
  { asked: read },
  // Its scopes are not known; what it may not list needs the scope for changes.
  { refused: ["Authentication"] },
])("a client that may only read is not the one that deploys: %j", (seen) => {
  const reading = readingOf(seen);
  const client = deployingClient(reading);
  expect(client).toEqual({
    scopes: defaultScopes,
    isOther: true,
    assumed:
      "The client in these settings may only read, so the rehearsal assumes that another client deploys, with all of the service's scopes. To specify its scopes, use --as-scopes.",
  });
  expect(refusedLists(reading, client)).toEqual([]);
});

test("scopes that are given count, and what they do not allow is up to the emulator", () => {
  const reading = readingOf({ granted: read, refused: ["Authentication", "Channel"] });
  const client = deployingClient(reading, [manage]);
  expect(client).toEqual({ scopes: [manage], isOther: true });
  expect(refusedLists(reading, client)).toEqual([]);
});

test("scopes are named in full or in short; another word is refused with those that there are", async () => {
  expect(parseScopes(`manage, ${read} interaction.manage manage`)).toEqual([
    ...[manage, read, interactionManage],
  ]);
  const { code, err } = await run("rehearse", "--as-scopes", "mange");
  expect(code).toBe(2);
  expect(err).toContain(
    'no scope "mange". Its scopes are manage, read, interaction.manage, interaction.read (',
  );
  expect(err).toContain("did you mean manage?");
  expect(await run("rehearse", "--as-scopes", " ")).toMatchObject({ code: 2 });
});
