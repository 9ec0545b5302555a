import { expect, test } from "vitest";
import type { TenantReading } from "../../cli/rehearse/accounts.js";
import {
  deployingClient,
  parseScopes,
  refusedLists,
  runConditions,
  scopesInUse,
} from "../../cli/rehearse/accounts.js";
import { accountDigest, scopeChanges, unreadKinds } from "../../cli/rehearse/change-record.js";
import {
  copyAccount,
  membersWithSecrets,
  stateBodies,
} from "../../cli/rehearse/emulated-account.js";
import { settingsOfProvider } from "../../cli/stack/stack-reading.js";
import { hideSecrets } from "../../emulator/objects/forms.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { configurationOf } from "../../provider/plugin/configuration.js";
import { typeToken } from "../../provider/pointer.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/http/operations.js";
import { readSettings } from "../../provider/service/settings.js";
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

const readingOf = ({ granted, asked = "", refused = [], ...seen }: Seen): TenantReading => ({
  settings: hubSettings({ CONVERSATION_SCOPE: asked }),
  roundTripMs: 1,
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
  const { objects, missing } = copyAccount(reading, stateBodies(document, { settings }));
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
    stateBodies(document, { settings }),
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
      const seen = { masked: 0, omitted: 0, echoed: 0 };
      const copy = membersWithSecrets(fields, hideSecrets(fields, whole, way), whole, seen);
      expect(copy).toEqual(whole);
      const counted = way === "mask" ? seen.masked : way === "omit" ? seen.omitted : seen.echoed;
      expect(counted).toBeGreaterThan(0);
      expect(seen.masked + seen.omitted + seen.echoed).toBe(counted);
    }
  },
);

test("what nobody knows stays hidden, and an object that must have a secret has one", () => {
  const seen = { masked: 0, omitted: 0, echoed: 0 };
  const { fields } = authentication;
  const basic = { name: "a", type: "basic", basicAuth: { username: "u" } };
  expect(membersWithSecrets(fields, basic, {}, seen)).toEqual({
    ...basic,
    basicAuth: { username: "u", password: "not-known" },
  });
  const masked = { ...basic, basicAuth: { username: "u", password: "••••••" } };
  expect(membersWithSecrets(fields, masked, {}, seen)).toEqual(masked);
  expect(seen.masked).toBe(1);
});

test("what was changed outside is copied as the service shows it", () => {
  const seen = { masked: 0, omitted: 0, echoed: 0 };
  const { fields } = authentication;
  const live = { ...oauth, oauth2: { ...oauth.oauth2, payload: "changed outside" } };
  expect(membersWithSecrets(fields, live, oauth, seen)).toEqual(live);
});

const { manage, read, interactionManage } = scopes;
const others = defaultScopes.filter((scope) => scope !== manage);

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
  [
    "without the one that a refused list shows to be missing",
    { refused: ["Authentication"] },
    others,
  ],
  ["all, if a refused list is not explained by scopes", { refused: ["Channel"] }, defaultScopes],
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

test.each<[Seen, string]>([
  [{ granted: read, refused: ["Authentication"] }, `has only ${read}`],
  [{ asked: read }, `has only ${read}`],
  [{ refused: ["Authentication"] }, "can only read (the service refused GET /authentications)"],
])("a client that may only read is not the one that deploys: %j", (seen, why) => {
  const reading = readingOf(seen);
  const client = deployingClient(reading);
  expect(client).toEqual({
    scopes: defaultScopes,
    isOther: true,
    assumed: `The client in these settings ${why}, so the rehearsal assumes that another client deploys, with all of the service's scopes. To specify its scopes, use --as-scopes.`,
  });
  expect(refusedLists(reading, client)).toEqual([]);
});

test("scopes that are given count, and a list that was refused for another reason stays refused", () => {
  const reading = readingOf({ granted: read, refused: ["Authentication", "Channel"] });
  const kinds = (given: readonly string[]) => {
    const client = deployingClient(reading, given);
    expect(client).toEqual({ scopes: given, isOther: true });
    return refusedLists(reading, client).map(({ definition }) => definition.kind);
  };
  expect(kinds([manage])).toEqual(["Channel"]);
  expect(kinds([read])).toEqual(["Authentication", "Channel"]);
});

test("scopes are named in full or in short; another word is refused with those that there are", async () => {
  expect(parseScopes(`manage, ${read} interaction.manage manage`)).toEqual([
    ...[manage, read, interactionManage],
  ]);
  for (const more of [[], ["--from-empty"]]) {
    const { code, err } = await run("rehearse", ...more, "--as-scopes", "mange");
    expect(code).toBe(2);
    expect(err).toContain(
      'no scope "mange". Its scopes are manage, read, interaction.manage, interaction.read (',
    );
    expect(err).toContain("did you mean manage?");
    expect(await run("rehearse", ...more, "--as-scopes", " ")).toMatchObject({ code: 2 });
  }
});

test("a record of another client holds with one that has its scopes, and names those that are missing", () => {
  expect(scopeChanges([manage], [readingOf({ granted: manage })])).toEqual([]);
  expect(scopeChanges([manage, read], [readingOf({ granted: read })])).toEqual([
    `the client in these settings lacks the scope ${manage}, which the rehearsal used`,
  ]);
});

test("what the client that rehearsed could not read is not compared; all else is", () => {
  const before = [readingOf({ refused: ["Authentication"] })];
  const unread = unreadKinds(before);
  expect(unread).toEqual([{ kind: "Authentication" }]);
  const digest = accountDigest(before, unread);
  expect(accountDigest([readingOf({})], unread)).toBe(digest);
  expect(accountDigest([readingOf({})])).not.toBe(digest);
  expect(accountDigest([readingOf({ refused: ["Channel"] })], unread)).not.toBe(digest);
});

const environment = {
  ...hubEnvironment,
  ...Object.fromEntries(
    Object.entries(hubEnvironment).map(([name, value]) => [
      name.replace("TION_", "TION_EU_"),
      value,
    ]),
  ),
};

const conditionsWith = (more: Readonly<Record<string, string>>, options = {}) => {
  const source = { environment: { ...environment, ...more }, config: () => undefined };
  const readings = [undefined, "eu"].map((profile) => ({
    settings: readSettings(source, profile),
  }));
  return runConditions(options, { source }, readings);
};

test("each account has the limits of its own profile", () => {
  const { plan, accounts, notes } = conditionsWith({
    ...{ CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "3" },
    ...{ CONVERSATION_EU_PLAN: "developer", CONVERSATION_EU_SHARE: "0.5" },
  });
  expect(plan).toBe("basic");
  expect(accounts).toMatchObject([
    { plan: "basic", burst: 3, share: 1 },
    { plan: "developer", share: 0.5 },
  ]);
  expect(accounts[1]).not.toHaveProperty("burst");
  expect(notes).toEqual([
    "The account of profile eu is on the developer plan; calls to it stay within that plan's rates.",
  ]);
});

test("the account of an explicit provider has its name, and the limits of its own arguments", () => {
  const given = { plan: "developer", burst: "3", share: "0.5" } as const;
  const { source } = configurationOf("us", given, environment);
  const settings = settingsOfProvider(source, "provider us");
  expect(settings.profile).toBe("provider us");
  const { accounts } = runConditions({}, { source: { environment, config: () => undefined } }, [
    { settings },
  ]);
  expect(accounts).toMatchObject([{ plan: "developer", burst: 3, share: 0.5 }]);
});

test("the command line counts for all; what is assumed is said of each profile", () => {
  const { accounts } = conditionsWith({ CONVERSATION_EU_PLAN: "basic" }, { plan: "developer" });
  expect(accounts.map(({ plan }) => plan)).toEqual(["developer", "developer"]);
  expect(conditionsWith({ CONVERSATION_PLAN: "basic" }).notes[0]).toBe(
    "The plan of profile eu is unknown; the forecast assumes the enterprise plan. Set it with --plan or conversation:eu.plan (CONVERSATION_EU_PLAN).",
  );
});
