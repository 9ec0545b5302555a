import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/resource.js";
import { isPlace, type ModelResource, modelResources, type Name } from "./scenario.js";

/** Longest description of all kinds. */
const longest = 1023;

/**
 * What a resource is called in the service. Different for every resource of both stacks; a moving
 * one has one name wherever it stands.
 */
export const nameAtService = (
  stack: number,
  { name, variant }: Pick<ModelResource, "name" | "variant">,
): string => (isPlace(name) ? `moving-${variant}` : `${stack}-${name}-${variant}`);

/** Room that the mark of a resource takes, with the blank before it. */
const markRoom = (name: Name): number =>
  1 +
  markText(markFor(markOf(modelResources[name].kind, `shop/prod/x/${name}`), "0".repeat(11), name))
    .length;

const likeMark = "[pulumi: shop/prod other #01234567-0123456789ab-0123456789abcde]";
const likeOldMark = "[pulumi: shop/prod other #01234567-0123456789ab]";

export const shownPlace = (stack: number, name: Name): string => `${name} of stack ${stack}`;

/** What a program says of a resource; the first line tells the version. */
export const descriptionOf = (
  { name, version, text = "short" }: ModelResource,
  stack = 0,
): string | undefined => {
  const said = `version ${version}\nof ${isPlace(name) ? shownPlace(stack, name) : "Gru\u0308ße"}`;
  const padded = (length: number): string => said.padEnd(length, ".");
  switch (text) {
    case "short":
      return said;
    case "none":
      return undefined;
    case "fits":
      return padded(longest - markRoom(name));
    case "over":
      return padded(longest - markRoom(name) + 1);
    case "like a mark":
      return `${said} ${likeOldMark}`;
    case "long like a mark":
      return `${padded(longest - likeMark.length - 1)} ${likeMark}`;
    default:
      return padded(Number(text));
  }
};

const windows = { customerServiceWindow: { durationMinutes: 5 } };

/** Members that a program may leave out: one, or several; nobody sets them by hand. */
const optionalOf = ({ version, more = 0 }: ModelResource) => ({
  channel: [
    {},
    { restrictions: { outbound: { richMessageTypes: [["form", "app", "payment"][version % 3]] } } },
    { restrictions: { outbound: windows }, displayName: `Kiosk ${version}` },
  ][more],
  bot: more === 2 ? { bypassVaDuration: version + 1 } : {},
  chat: more > 0 ? { onAgentUnavailability: "retain_and_retry" } : {},
});

/** Places of the members that a program may leave out, and that are gone then. */
export const optionalPlaces: readonly (readonly string[])[] = [
  ["restrictions", "outbound", "richMessageTypes"],
  ["restrictions", "outbound", "customerServiceWindow"],
  ["applications", "botConfiguration", "bypassVaDuration"],
  ["applications", "customerConfiguration"],
];

const fieldsOf = (stack: number, declared: ModelResource, idOf: (name: Name) => string): Json => {
  const key = nameAtService(stack, declared);
  const optional = optionalOf(declared);
  const [first = "", second = ""] = modelResources[declared.name].refers.map((name: Name) =>
    idOf(name),
  );
  switch (modelResources[declared.name].kind) {
    case "Authentication":
      return {
        ...(isPlace(declared.name) ? {} : { name: key }),
        basicAuth: { username: "hub", password: `secret-${declared.version}` },
      };
    case "ClientApplication": {
      const role = {
        name: "custom_bot",
        version: "v3",
        callback: "https://x.example.com/hook",
        notificationEmail: "Ops@B.example",
      };
      return { name: key, roles: [{ ...role, authentication: first }] };
    }
    case "Participant":
      return { name: key, type: "custom_bot", application: first, options: { a: "x\ny", b: "2" } };
    case "Channel":
      return { type: key, displayName: "Kiosk", icon: "aVZC", ...optional.channel };
    case "Orchestration": {
      const bots = [{ application: first, participant: second }];
      const applications = {
        ...(second ? { botConfiguration: { bots, ...optional.bot } } : {}),
        ...(declared.more ? { customerConfiguration: { customer: first } } : {}),
        agentConfiguration: { agents: [first] },
      };
      return { name: key, applications };
    }
    default:
      return {
        name: key,
        address: "x",
        channel: first,
        chatConfigurations: {
          ...{ orchestration: second, timeout: 30, entryPoint: "1007" },
          ...optional.chat,
        },
      };
  }
};

/** Inputs of a resource as a program gives them, with the ids of what it refers to. */
export const declaredInputs = (
  stack: number,
  declared: ModelResource,
  idOf: (name: Name) => string,
): Json => {
  const description = descriptionOf(declared, stack);
  return {
    ...fieldsOf(stack, declared, idOf),
    ...(description === undefined ? {} : { description }),
    ...(declared.profile ? { profile: declared.profile } : {}),
  };
};
