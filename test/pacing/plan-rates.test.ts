import { expect, test } from "vitest";
import type { Plan } from "../../provider/service/plans.js";
import { likelyBurst, plans, rateOf, rateRows } from "../../sdk/runtime/index.js";

type Three = readonly [number, number, number];

/** Specification §8.2 and §8.3, standard rates: Developer, Basic, Enterprise. */
const standard: readonly (readonly [string, string, Three])[] = [
  ["Conversation", "v3", [0.16, 0.5, 1]],
  ["Message Router", "v3", [0.16, 0.5, 0.5]],
  ["Notification Manager", "v3", [0.16, 0.5, 1]],
  ["Secure Messaging Manager", "v3", [0.16, 0.5, 1]],
  ["AI Services", "v3", [0.16, 0.3, 1]],
  ["AI Services", "v4", [30, 30, 30]],
  ["Auth Manager", "v3", [1, 10, 60]],
  ["Case Manager", "v3", [0.16, 0.5, 1]],
  ["Customer Manager", "v3", [0.16, 0.5, 1]],
  ["Department Manager", "v3", [0.16, 0.16, 0.5]],
  ["Department Manager", "v4", [0.16, 0.16, 0.5]],
  ["Events Channel", "v3", [0.16, 0.16, 0.5]],
  ["File Manager", "v3", [0.16, 0.5, 0.5]],
  ["Info Manager", "v3", [0.16, 0.16, 0.5]],
  ["Info Manager", "v4", [0.16, 0.16, 0.5]],
  ["Integration Manager", "v4", [0.16, 0.5, 1]],
  ["Micro Services Manager", "v3", [0.16, 0.5, 1]],
  ["Personalization Manager", "v4", [0.16, 0.5, 1]],
  ["User Manager", "v3", [1, 10, 60]],
  ["Work Assignment Manager", "v3", [0.16, 0.16, 0.5]],
  ["Content Manager", "v4", [1, 10, 60]],
  ["Event Manager", "v4", [0.5, 0.5, 0.5]],
  ["Portal Manager", "v3", [1, 10, 60]],
  ["Portal Manager", "v4", [1, 10, 60]],
];

/** The special endpoints of the same tables. */
const special: readonly (readonly [string, string, string, Three])[] = [
  ["Conversation", "v3", "POST /conversations/messages", [0.16, 1, 5]],
  ["Conversation", "v3", "GET /conversations/{id}", [0.16, 1, 5]],
  ["Conversation", "v3", "POST /assets", [0.16, 1, 5]],
  ["Conversation", "v3", "GET /assets/{id}", [0.16, 1, 5]],
  ["Message Router", "v3", "GET /entrypoint/{id}/agentavailability", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/capacity", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/checkeligibility", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/chatallowed", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/livesessionstatus", [0.16, 0.5, 1]],
  ["Notification Manager", "v3", "POST /messages", [0.16, 1, 5]],
  ["Notification Manager", "v3", "POST /assets", [0.16, 1, 5]],
  ["AI Services", "v3", "GET /instantanswers/suggestions", [10, 20, 40]],
  ["AI Services", "v3", "GET /instantanswers/generative", [0.16, 0.3, 30]],
  ["AI Services", "v3", "GET /instantanswers/extractive", [0.16, 0.3, 30]],
  ["User Manager", "v3", "POST /user", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "PATCH /user", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "DELETE /user/{id}", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "DELETE /user/ext-id/{id}", [0.16, 0.16, 0.5]],
  ["Content Manager", "v4", "POST /import/content", [0.02, 0.08, 0.17]],
  ["Content Manager", "v4", "POST /import/content/validate", [0.02, 0.08, 0.17]],
  ["Portal Manager", "v3", "GET /portals/{portalID}/search/typeahead", [10, 20, 60]],
];

const methodOf = (name: string) => {
  const method = (["GET", "POST", "PATCH", "DELETE"] as const).find((one) => name.startsWith(one));
  if (!method) throw new Error(name);
  return method;
};

const ratesOf = (service: string, version: string, endpoint: string) =>
  plans.map((plan) => {
    const template = endpoint.slice(endpoint.indexOf(" ") + 1);
    return rateOf({ service, version, plan, method: methodOf(endpoint), template });
  });

test.each(standard)("%s %s has its standard rates", (service, version, rates) => {
  expect(ratesOf(service, version, "GET /anything")).toEqual(rates);
});

test.each(special)("%s %s %s has its own rates", (service, version, endpoint, rates) => {
  expect(ratesOf(service, version, endpoint)).toEqual(rates);
});

test("the table has every row of the specification and no other", () => {
  const rows = rateRows.flatMap(({ service, versions }) => versions.map((v) => [service, v]));
  expect(rows).toEqual(standard.map(([service, version]) => [service, version]));
  const endpoints = rateRows.flatMap(({ service, special: own }) =>
    own.flatMap(({ method, templates }) => templates.map((t) => `${service} ${method} ${t}`)),
  );
  expect(endpoints.sort()).toEqual(special.map(([service, , name]) => `${service} ${name}`).sort());
});

test("every row says where it comes from", () => {
  const sources = rateRows.map(({ service, source }) => [service === "Conversation", source]);
  expect(sources.every(([own, source]) => source === `specification §8.${own ? 2 : 3}`)).toBe(true);
});

test.each([
  ["DELETE", "/assets/{id}"],
  ["POST", "/channels"],
  ["PUT", "/accounts/{id}"],
] as const)("%s %s of the conversation service has the standard rate", (method, template) => {
  const question = { service: "Conversation", version: "v3", method, template };
  expect(plans.map((plan) => rateOf({ ...question, plan }))).toEqual([0.16, 0.5, 1]);
});

test("the names of placeholders and the case of the service do not matter", () => {
  const question = { service: "conversation", version: "V3", method: "GET" } as const;
  expect(rateOf({ ...question, plan: "basic", template: "/assets/{assetId}" })).toBe(1);
});

test.each([
  [{ service: "Parcel Manager" }, /Parcel Manager.*Known services: Conversation, Message Router/],
  [{ service: "AI Services", version: "v9" }, /"v9" of AI Services. Known versions: v3, v4/],
  [{ plan: "gold" as Plan }, /no plan "gold". Plans: developer, basic, enterprise/],
])("%j is refused with the choices", (change, message) => {
  const question = { service: "Conversation", version: "v3", plan: "basic" } as const;
  const ask = () => rateOf({ ...question, method: "GET", template: "/channels", ...change });
  expect(ask).toThrow(message);
});

test.each([
  ["developer", "/channels", 3],
  ["basic", "/channels", 10],
  ["enterprise", "/channels", 20],
  ["basic", "/assets", 20],
  ["enterprise", "/assets", 100],
] as const)("on %s POST %s probably takes %i calls in a spike", (plan, template, calls) => {
  const question = { service: "Conversation", version: "v3", method: "POST" } as const;
  expect(likelyBurst({ ...question, plan, template })).toEqual({ calls, basis: "assumed" });
});
