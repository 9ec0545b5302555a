import type { SiblingRates } from "./rate-limit.js";
import type { PathMatch, Route } from "./routes.js";

interface SiblingService {
  readonly name: string;
  readonly versions: readonly string[];
  readonly rates: SiblingRates;
  /** Endpoints with rates of their own; a placeholder stands for any one segment. */
  readonly special: Readonly<Record<string, SiblingRates>>;
}

/** One row of the table: name, versions, rates, endpoints with rates of their own. */
const row = (
  name: string,
  versions: string,
  rates: SiblingRates,
  special: Readonly<Record<string, SiblingRates>> = {},
): SiblingService => ({ name, versions: versions.split(" "), rates, special });

const sameFor = (rates: SiblingRates, ...endpoints: string[]) =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, rates]));

/**
 * The services that share the plans, with their rates: specification §8.3. Independent on purpose: with
 * the provider's table a rate that is wrong there would look right here.
 */
const services: readonly SiblingService[] = [
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

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Such as `case-manager`, however the words are put together. */
const wordsOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const byPath: ReadonlyMap<string, SiblingService> = new Map(
  services.flatMap((service) =>
    service.versions.map((version) => [`${wordsOf(service.name)}/${version}`, service] as const),
  ),
);

/** Ids and whatever else has a digit; a word is a part of the path. */
const isIdentifier = (segment: string): boolean => /\d/.test(segment) || segment.length > 40;

const fits = (template: string, segments: readonly string[]): boolean => {
  const parts = template.split("/").slice(1);
  return (
    parts.length === segments.length &&
    parts.every((part, place) => part === segments[place] || part.startsWith("{"))
  );
};

/** The template of a path: one that has rates of its own, the more literal first, or one that is made up. */
const templateOf = ({ special }: SiblingService, segments: readonly string[]): string => {
  const known = Object.keys(special)
    .map((endpoint) => endpoint.slice(endpoint.indexOf(" ") + 1))
    .filter((template) => fits(template, segments))
    .sort((a, b) => a.split("{").length - b.split("{").length);
  const made = segments.map((segment) => `/${isIdentifier(segment) ? "{id}" : segment}`).join("");
  return known[0] ?? made;
};

const mostSegments = 8;

/**
 * The operations of a path of another service, such as `/case-manager/v3/cases`; undefined where
 * there is no such service. The specification says nothing of them but paths, methods and rates: what
 * is allowed is answered with 200 and an empty object.
 */
export const matchSibling = (path: string): PathMatch | undefined => {
  const [, name = "", version = "", ...segments] = path.split("/");
  const service = byPath.get(`${wordsOf(name)}/${version}`);
  const isPath = segments.length > 0 && segments.length <= mostSegments && !segments.includes("");
  if (!service || !isPath) return undefined;
  const own = templateOf(service, segments);
  const template = `/${service.name.toLowerCase().replaceAll(" ", "-")}/${version}${own}`;
  const routeOf = (method: string): Route => ({
    method,
    template,
    name: `${method} ${template}`,
    scopes: [],
    rates: service.special[`${method} ${own}`] ?? service.rates,
    carryOut: () => ({ status: 200, body: {} }),
  });
  return { template, id: "", methods: new Map(methods.map((method) => [method, routeOf(method)])) };
};
