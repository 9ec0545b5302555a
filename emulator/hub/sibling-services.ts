import type { SiblingRates } from "../service/access.js";
import type { PathMatch, Route } from "../service/calls.js";

/** A service that shares the tenant's plan. */
interface SiblingService {
  readonly name: string;
  readonly versions: readonly string[];
  readonly rates: SiblingRates;
  /** Endpoints with their own rates; a placeholder matches any single segment. */
  readonly special: Readonly<Record<string, SiblingRates>>;
}

/** One row of the table: name, versions, rates, endpoints with their own rates. */
const row = (
  name: string,
  versions: string,
  rates: SiblingRates,
  special: Readonly<Record<string, SiblingRates>> = {},
): SiblingService => ({ name, versions: versions.split(" "), rates, special });

const sameFor = (rates: SiblingRates, ...endpoints: string[]) =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, rates]));

/**
 * The services that share the plans, with their rates: specification §8.3. Independent on purpose:
 * if it used the provider's table, a wrong rate there would look right here.
 */
const siblingServices: readonly SiblingService[] = [
  row(
    "Message Router",
    "v3",
    [0.16, 0.5, 0.5],
    sameFor(
      [0.16, 0.5, 1],
      ...[
        "agentavailability",
        "capacity",
        "checkeligibility",
        "chatallowed",
        "livesessionstatus",
      ].map((last) => `GET /entrypoint/{id}/${last}`),
    ),
  ),
  row(
    "Notification Manager",
    "v3",
    [0.16, 0.5, 1],
    sameFor([0.16, 1, 5], "POST /messages", "POST /assets"),
  ),
  row("Secure Messaging Manager", "v3", [0.16, 0.5, 1]),
  row("AI Services", "v3", [0.16, 0.3, 1], {
    ...sameFor([10, 20, 40], "GET /instantanswers/suggestions"),
    ...sameFor([0.16, 0.3, 30], "GET /instantanswers/generative", "GET /instantanswers/extractive"),
  }),
  row("AI Services", "v4", [30, 30, 30]),
  row("Auth Manager", "v3", [1, 10, 60]),
  row("Case Manager", "v3", [0.16, 0.5, 1]),
  row("Customer Manager", "v3", [0.16, 0.5, 1]),
  row("Department Manager", "v3 v4", [0.16, 0.16, 0.5]),
  row("Events Channel", "v3", [0.16, 0.16, 0.5]),
  row("File Manager", "v3", [0.16, 0.5, 0.5]),
  row("Info Manager", "v3 v4", [0.16, 0.16, 0.5]),
  row("Integration Manager", "v4", [0.16, 0.5, 1]),
  row("Micro Services Manager", "v3", [0.16, 0.5, 1]),
  row("Personalization Manager", "v4", [0.16, 0.5, 1]),
  row(
    "User Manager",
    "v3",
    [1, 10, 60],
    sameFor(
      [0.16, 0.16, 0.5],
      "POST /user",
      "PATCH /user",
      "DELETE /user/{id}",
      "DELETE /user/ext-id/{id}",
    ),
  ),
  row("Work Assignment Manager", "v3", [0.16, 0.16, 0.5]),
  row(
    "Content Manager",
    "v4",
    [1, 10, 60],
    sameFor([0.02, 0.08, 0.17], "POST /import/content", "POST /import/content/validate"),
  ),
  row("Event Manager", "v4", [0.5, 0.5, 0.5]),
  row(
    "Portal Manager",
    "v3",
    [1, 10, 60],
    sameFor([10, 20, 60], "GET /portals/{portalID}/search/typeahead"),
  ),
  row("Portal Manager", "v4", [1, 10, 60]),
];

const siblingMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The words of a name such as `case-manager`, however they are joined. */
const wordsOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const siblingByPath: ReadonlyMap<string, SiblingService> = new Map(
  siblingServices.flatMap((service) =>
    service.versions.map((version) => [`${wordsOf(service.name)}/${version}`, service] as const),
  ),
);

const fits = (template: string, segments: readonly string[]): boolean => {
  const parts = template.split("/").slice(1);
  return (
    parts.length === segments.length &&
    parts.every((part, place) => part === segments[place] || part.startsWith("{"))
  );
};

/** The template of a path: one with its own rates, the more literal first, or a derived one. */
const findTemplate = ({ special }: SiblingService, segments: readonly string[]): string => {
  const known = Object.keys(special)
    .map((endpoint) => endpoint.slice(endpoint.indexOf(" ") + 1))
    .filter((template) => fits(template, segments))
    .sort((a, b) => a.split("{").length - b.split("{").length);
  // IDs are segments with a digit, or long ones; a plain word is part of the path.
  const isId = (segment: string): boolean => /\d/.test(segment) || segment.length > 40;
  return known[0] ?? segments.map((segment) => `/${isId(segment) ? "{id}" : segment}`).join("");
};

/**
 * The operations on a path of another service, such as `/case-manager/v3/cases`; undefined if there
 * is no such service. The specification states only paths, methods, and rates, so an allowed call
 * returns 200 and an empty object.
 */
export const matchSibling = (path: string): PathMatch<unknown> | undefined => {
  const [, name = "", version = "", ...segments] = path.split("/");
  const service = siblingByPath.get(`${wordsOf(name)}/${version}`);
  const isPath = segments.length > 0 && segments.length <= 8 && !segments.includes("");
  if (!service || !isPath) return undefined;
  const own = findTemplate(service, segments);
  const template = `/${service.name.toLowerCase().replaceAll(" ", "-")}/${version}${own}`;
  const makeRoute = (method: string): Route<unknown> => ({
    method,
    template,
    name: `${method} ${template}`,
    scopes: [],
    rates: service.special[`${method} ${own}`] ?? service.rates,
    carryOut: () => ({ status: 200, body: {} }),
  });
  return {
    template,
    id: "",
    methods: new Map(siblingMethods.map((method) => [method, makeRoute(method)])),
  };
};

/**
 * An operation of another service, by its name, such as `GET /case-manager/v3/cases/{id}`;
 * undefined if there is none.
 */
export const siblingRoute = (name: string): Route<unknown> | undefined => {
  const [method = "", path = ""] = name.split(" ");
  const route = matchSibling(path.replaceAll(/\{\w+\}/g, "0"))?.methods.get(method);
  return route?.name === name ? route : undefined;
};
