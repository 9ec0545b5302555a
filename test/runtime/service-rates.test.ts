import { expect, test } from "vitest";
import { plans } from "../../provider/service/plans.js";
import { findServiceLimits, rateRows } from "../../sdk/runtime/service-rates.js";
import { specialRates, standardRates } from "../support/specification.js";

const limitsOf = (service: string, version: string, endpoint: string) =>
  plans.map((plan) => {
    const { standard, own = {} } = findServiceLimits(service, version)(plan);
    return own[endpoint.replace(/\{\w+\}/g, "{id}")] ?? standard;
  });

const ratesOf = (...endpoint: Parameters<typeof limitsOf>) =>
  limitsOf(...endpoint).map(({ rate }) => rate);

test.each(standardRates)("%s %s has its standard rates", (service, version, rates) => {
  expect(ratesOf(service, version, "GET /anything")).toEqual(rates);
});

test.each(specialRates)("%s %s %s has its own rates", (service, version, endpoint, rates) => {
  expect(ratesOf(service, version, endpoint)).toEqual(rates);
});

test("the table has every row of the specification and no other", () => {
  const rows = rateRows.flatMap(({ service, versions }) => versions.map((v) => [service, v]));
  expect(rows).toEqual(standardRates.map(([service, version]) => [service, version]));
  const endpoints = rateRows.flatMap(({ service, limits }) =>
    Object.keys(limits("basic").own ?? {}).map((endpoint) => `${service} ${endpoint}`),
  );
  const known = specialRates.map(([service, , name]) => `${service} ${name}`);
  expect(endpoints.sort()).toEqual(known.map((name) => name.replace(/\{\w+\}/g, "{id}")).sort());
});

test("the case of the service and of the version does not matter", () => {
  expect(ratesOf("conversation", "V3", "GET /assets/{id}")[1]).toBe(1);
});

test.each([
  ["Parcel Manager", "v3", /Parcel Manager v3.*Services: Conversation v3, Message Router v3/],
  ["AI Services", "v9", /"AI Services v9".*AI Services v3, AI Services v4/],
])("%s %s is refused with the choices", (service, version, message) => {
  expect(() => findServiceLimits(service, version)).toThrow(message);
});

test.each([
  ["Conversation", "POST /channels", [1, 2, 30]],
  ["Conversation", "DELETE /assets/{id}", [1, 2, 30]],
  ["Conversation", "POST /conversations/messages", [1, 3, 15]],
  ["Conversation", "GET /conversations/{id}", [1, 3, 15]],
  ["Conversation", "POST /assets", [1, 3, 15]],
  ["Conversation", "GET /assets/{id}", [1, 3, 15]],
  ["Message Router", "GET /entrypoint/{id}/capacity", [3, 10, 20]],
  ["Message Router", "GET /anything", [3, 10, 10]],
  ["Case Manager", "GET /cases", [1, 2, 30]],
] as const)("%s %s: bursts of %j", (service, endpoint, bursts) => {
  expect(limitsOf(service, "v3", endpoint).map(({ burst }) => burst)).toEqual(bursts);
});
