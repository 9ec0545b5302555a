import { expect, test } from "vitest";
import {
  deployingClient,
  parseScopes,
  refusedLists,
  scopesInUse,
  type TenantReading,
} from "../../cli/rehearse/accounts.js";
import { accountDigest, scopeChanges, unreadKinds } from "../../cli/rehearse/change-record.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/http/operations.js";
import { readSettings } from "../../provider/service/settings.js";
import { run } from "../cli/session.js";
import { hubEnvironment } from "./hub-environment.js";

interface Seen {
  /** What the token address tells. */
  readonly told?: string;
  readonly asked?: string;
  /** Kinds whose lists are forbidden. */
  readonly refused?: readonly string[];
}

const readingOf = ({ told, asked = "", refused = [] }: Seen): TenantReading => ({
  settings: readSettings({
    config: () => undefined,
    environment: {
      ...hubEnvironment,
      CONVERSATION_SCOPE: asked,
    },
  }),
  roundTripMs: 1,
  ...(told === undefined ? {} : { scopes: told.split(" ") }),
  account: {
    ...{ readAt: "", baseUrl: "https://hub.example.com/v3", consistent: true, openEnds: [] },
    kinds: resources.map((definition) => ({
      definition,
      objects: new Map(
        refused.includes(definition.kind) ? [] : [["1", { id: "1", created: "", modified: "" }]],
      ),
      ...(refused.includes(definition.kind)
        ? { problem: "no", error: new ConversationError("FORBIDDEN", "no") }
        : {}),
    })),
  },
});

const { manage, read, interactionManage } = scopes;
const others = defaultScopes.filter((scope) => scope !== manage);

test.each<[string, Seen, readonly string[]]>([
  [
    "told by the token address",
    { told: `${read} ${interactionManage}` },
    [read, interactionManage],
  ],
  ["asked for, where nothing is told", { asked: `${manage} ${read}` }, [manage, read]],
  [
    "all, where nothing is told in words of the specification",
    { told: "everything" },
    defaultScopes,
  ],
  [
    "without the one that a refused list shows to be missing",
    { refused: ["Authentication"] },
    others,
  ],
  ["all, where a refused list is not explained by scopes", { refused: ["Channel"] }, defaultScopes],
])("the scopes in use are %s", (_, seen, expected) => {
  expect(scopesInUse(readingOf(seen))).toEqual(expected);
});

test("a client that may write deploys itself; what it was refused it will be refused again", () => {
  for (const seen of [{ told: `${manage} ${read}` }, { asked: `${manage} ${read}` }, {}]) {
    const reading = readingOf({ ...seen, refused: ["Channel"] });
    const client = deployingClient(reading);
    expect(client).toEqual({ scopes: scopesInUse(reading), isOther: false });
    expect(refusedLists(reading, client).map(({ definition }) => definition.kind)).toEqual([
      "Channel",
    ]);
  }
});

test.each<[Seen, string]>([
  [{ told: read, refused: ["Authentication"] }, `has only ${read}`],
  [{ asked: read }, `has only ${read}`],
  [{ refused: ["Authentication"] }, "may only read, as GET /authentications was refused"],
])("a client that may only read is not the one that deploys: %j", (seen, why) => {
  const reading = readingOf(seen);
  const client = deployingClient(reading);
  expect(client).toEqual({
    scopes: defaultScopes,
    isOther: true,
    assumed: `The client of these settings ${why}, so it is assumed that another one deploys, with all scopes of the service; say which it has with --as-scopes.`,
  });
  expect(refusedLists(reading, client)).toEqual([]);
});

test("scopes that are given count, and a list that was refused for another reason stays refused", () => {
  const reading = readingOf({ told: read, refused: ["Authentication", "Channel"] });
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
      'no scope "mange", only manage, read, interaction.manage, interaction.read (',
    );
    expect(err).toContain("did you mean manage?");
    expect(await run("rehearse", ...more, "--as-scopes", " ")).toMatchObject({ code: 2 });
  }
});

test("a record of another client holds with one that has its scopes, and names those that are missing", () => {
  expect(scopeChanges([manage], [readingOf({ told: manage })])).toEqual([]);
  expect(scopeChanges([manage, read], [readingOf({ told: read })])).toEqual([
    `the client of these settings lacks ${manage}, with which this was rehearsed`,
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
