import type { Declared, Name } from "./scenario.js";
import { world } from "./scenario.js";

type Json = Record<string, unknown>;

/** What a resource is called at the service. Different for every resource of both stacks. */
export const nameAtService = (
  stack: number,
  { name, variant }: Pick<Declared, "name" | "variant">,
): string => `${stack}-${name}-${variant}`;

/** Inputs of a resource as a program gives them, with the ids of what it refers to. */
export const inputsOf = (stack: number, declared: Declared, idOf: (name: Name) => string): Json => {
  const key = nameAtService(stack, declared);
  const description = `version ${declared.version}`;
  const [first = "", second = ""] = world[declared.name].refers.map((name: Name) => idOf(name));
  switch (world[declared.name].kind) {
    case "Authentication":
      return {
        name: key,
        description,
        basicAuth: { username: "hub", password: `secret-${declared.version}` },
      };
    case "ClientApplication": {
      const role = {
        name: "custom_bot",
        version: "v3",
        callback: "https://x.example.com/",
        notificationEmail: "a@b.example",
      };
      return { name: key, description, roles: [{ ...role, authentication: first }] };
    }
    case "Participant":
      return { name: key, description, type: "custom_bot", application: first };
    case "Channel":
      return { type: key, description, displayName: "Kiosk", icon: "aVZC" };
    case "Orchestration": {
      const bots = second
        ? { botConfiguration: { bots: [{ application: first, participant: second }] } }
        : {};
      return {
        name: key,
        description,
        applications: { ...bots, agentConfiguration: { agents: [first] } },
      };
    }
    default:
      return {
        name: key,
        description,
        address: "x",
        channel: first,
        chatConfigurations: { orchestration: second },
      };
  }
};
