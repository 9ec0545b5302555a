import { expect, test } from "vitest";
import { runConditions } from "../../cli/rehearse/accounts.js";
import { readSettings } from "../../provider/service/settings.js";

const environment = {
  ...{ CONVERSATION_BASE_URL: "https://a.example.com/v3", CONVERSATION_CLIENT_ID: "a" },
  ...{
    CONVERSATION_TOKEN_URL: "https://a.example.com/token",
    CONVERSATION_CLIENT_SECRET: "a-secret",
  },
  ...{ CONVERSATION_EU_BASE_URL: "https://b.example.com/v3", CONVERSATION_EU_CLIENT_ID: "b" },
  ...{ CONVERSATION_EU_TOKEN_URL: "https://b.example.com/token" },
  ...{ CONVERSATION_EU_CLIENT_SECRET: "b-secret" },
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
    "The account of profile eu is on the plan developer; its calls keep to that.",
  ]);
});

test("the command line counts for all; what is assumed is said of each profile", () => {
  const { accounts } = conditionsWith({ CONVERSATION_EU_PLAN: "basic" }, { plan: "developer" });
  expect(accounts.map(({ plan }) => plan)).toEqual(["developer", "developer"]);
  expect(conditionsWith({ CONVERSATION_PLAN: "basic" }).notes[0]).toBe(
    "The plan of profile eu is not known, so enterprise is assumed. Say it with --plan or conversation:eu.plan (CONVERSATION_EU_PLAN).",
  );
});
