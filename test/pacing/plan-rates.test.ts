import { expect, test } from "vitest";
import { limitOf, rateRows } from "../../provider/pacing/plan-rates.js";
import { plans } from "../../provider/service/plans.js";
import { specialRates, standardRates } from "../support/specification.js";

const methodOf = (name: string) => {
  const method = (["GET", "POST", "PATCH", "DELETE"] as const).find((one) => name.startsWith(one));
  if (!method) throw new Error(name);
  return method;
};

const ratesOf = (service: string, version: string, endpoint: string) =>
  plans.map((plan) => {
    const template = endpoint.slice(endpoint.indexOf(" ") + 1);
    return limitOf({ service, version, plan, method: methodOf(endpoint), template }).rate;
  });

test.each(standardRates)("%s %s has its standard rates", (service, version, rates) => {
  expect(ratesOf(service, version, "GET /anything")).toEqual(rates);
});

test.each(specialRates)("%s %s %s has its own rates", (service, version, endpoint, rates) => {
  expect(ratesOf(service, version, endpoint)).toEqual(rates);
});

test("the table has every row of the specification and no other", () => {
  const rows = rateRows.flatMap(({ service, versions }) => versions.map((v) => [service, v]));
  expect(rows).toEqual(standardRates.map(([service, version]) => [service, version]));
  const endpoints = rateRows.flatMap(({ service, own = {} }) =>
    Object.keys(own).map((endpoint) => `${service} ${endpoint}`),
  );
  expect(endpoints.sort()).toEqual(
    specialRates.map(([service, , name]) => `${service} ${name}`).sort(),
  );
});

test("the names of placeholders and the case of the service do not matter", () => {
  const question = { service: "conversation", version: "V3", method: "GET" } as const;
  expect(limitOf({ ...question, plan: "basic", template: "/assets/{assetId}" }).rate).toBe(1);
});

test.each([
  [
    { service: "Parcel Manager" },
    /Parcel Manager v3.*Services: Conversation v3, Message Router v3/,
  ],
  [{ service: "AI Services", version: "v9" }, /"AI Services v9".*AI Services v3, AI Services v4/],
])("%j is refused with the choices", (change, message) => {
  const question = { service: "Conversation", version: "v3", plan: "basic" } as const;
  const ask = () => limitOf({ ...question, method: "GET", template: "/channels", ...change });
  expect(ask).toThrow(message);
});

test.each([
  ["POST", "/channels", [1, 2, 30]],
  ["DELETE", "/assets/{id}", [1, 2, 30]],
  ["POST", "/conversations/messages", [1, 3, 15]],
  ["GET", "/conversations/{id}", [1, 3, 15]],
  ["POST", "/assets", [1, 3, 15]],
  ["GET", "/assets/{id}", [1, 3, 15]],
] as const)("%s %s has the documented bursts", (method, template, bursts) => {
  const question = { service: "Conversation", version: "v3", method, template };
  for (const [place, plan] of plans.entries())
    expect(limitOf({ ...question, plan })).toMatchObject({ burst: bursts[place] });
});

test.each([
  ["Message Router", "/entrypoint/{id}/capacity", [3, 10, 20]],
  ["Message Router", "/anything", [3, 10, 10]],
  ["Case Manager", "/cases", [1, 2, 30]],
] as const)("%s GET %s: bursts of %j", (service, template, bursts) => {
  const question = { service, version: "v3", method: "GET", template } as const;
  for (const [place, plan] of plans.entries())
    expect(limitOf({ ...question, plan })).toMatchObject({ burst: bursts[place] });
});
