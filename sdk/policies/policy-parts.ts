import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PolicyResource } from "@pulumi/policy";
import { docsLink } from "../../provider/kernel/package.js";
import { kindOfToken, pluginToken } from "../../provider/kernel/type-tokens.js";
import {
  type ConversationSide,
  conversationSides,
  rolesOnSide,
} from "../../provider/resources/message-types.js";
import { ClientApplication, Orchestration, Participant } from "../resources.js";

/** Returns a policy's metadata, with a link to its section in docs/policies.md. */
export const policyNotes = (
  name: string,
  displayName: string,
  description: string,
  remediationSteps: string,
) => ({
  name,
  displayName,
  description,
  remediationSteps,
  enforcementLevel: "advisory" as const,
  url: docsLink(`policies.md#${name}`),
  tags: ["conversation"],
});

/** Reads a value; returns undefined instead of throwing if the value is unknown in a preview. */
export const whereKnown = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === "UnknownValueError") return undefined;
    throw error;
  }
};

/** Returns the items in a list that are known in a preview; none if the list itself is unknown. */
export const knownItems = <T>(read: () => readonly T[] | undefined): readonly T[] => {
  const list = whereKnown(read) ?? [];
  const places = Array.from({ length: whereKnown(() => list.length) ?? 0 }, (_, place) => place);
  return places.flatMap((place) => whereKnown(() => list[place]) ?? []);
};

/**
 * Returns a class for checking a resource's type: the given class, with the plugin's type token if
 * the resource comes from the plugin. Policies use only the type token.
 */
export const classFor = <C extends { readonly __pulumiType: string }>(
  { type }: Pick<PolicyResource, "type">,
  of: C,
): C => {
  const value = pluginToken(kindOfToken(of.__pulumiType) ?? "");
  return type === value ? Object.create(of, { __pulumiType: { value } }) : of;
};

/** Returns the resources of a class, from the package or its plugin. */
export const resourcesOfClass = (
  of: { readonly __pulumiType: string },
  resources: readonly PolicyResource[] = [],
): readonly PolicyResource[] =>
  resources.filter(({ type }) => kindOfToken(type) === kindOfToken(of.__pulumiType));

/** Returns an application's roles; undefined if some are unknown in a preview. */
export const rolesOf = (application: PolicyResource): readonly string[] | undefined =>
  whereKnown(() =>
    application.asType(classFor(application, ClientApplication))?.roles.map(({ name }) => name),
  );

const idOf = (read: () => unknown): string | undefined => {
  const id = whereKnown(read);
  return typeof id === "string" ? id : undefined;
};

/**
 * Returns the ID of a participant's client application; undefined if it is unknown in a preview.
 */
export const ownApplication = (participant: PolicyResource): string | undefined =>
  idOf(() => participant.asType(classFor(participant, Participant))?.application);

/** A place in an orchestration: customer, bot, or agent. */
export interface Place {
  readonly place: ConversationSide;
  /** Roles for this place; each application needs one of them. */
  readonly roles: readonly string[];
  /** IDs of the applications in this place; undefined for an ID that is unknown in a preview. */
  readonly ids: readonly (string | undefined)[];
}

/** The IDs of a list, each as far as it is known: a walk over the list would stop at one that is not. */
const idsIn = (read: () => readonly unknown[] | undefined): readonly (string | undefined)[] => {
  const list = whereKnown(read) ?? [];
  return Array.from({ length: list.length }, (_, at) => idOf(() => list[at]));
};

/** Returns the places that an orchestration fills, with the IDs of their applications. */
export const placesOf = (orchestration: PolicyResource): readonly Place[] => {
  const parts = orchestration.asType(classFor(orchestration, Orchestration))?.applications;
  const customer = whereKnown(() => parts?.customerConfiguration);
  const bots = knownItems(() => parts?.botConfiguration?.bots);
  const escalations = bots.flatMap((bot) => whereKnown(() => bot.onEscalation) ?? []);
  const ids = {
    customer: customer ? [idOf(() => customer.customer)] : [],
    bot: bots.map((bot) => idOf(() => bot.application)),
    agent: [
      ...idsIn(() => parts?.agentConfiguration?.agents),
      ...escalations.map((escalation) => idOf(() => escalation.agent)),
    ],
  };
  return conversationSides
    .map((place) => ({ place, roles: rolesOnSide[place], ids: ids[place] }))
    .filter(({ ids: filled }) => filled.length > 0);
};

/**
 * Returns the applications that a stack's participants refer to, keyed by ID. Omits an application
 * if its ID is unknown or ambiguous.
 */
export const applicationsById = (
  resources: readonly PolicyResource[],
): ReadonlyMap<string, PolicyResource> =>
  new Map(
    resourcesOfClass(Participant, resources).flatMap((participant) => {
      const id = ownApplication(participant);
      const { application: used } = participant.propertyDependencies;
      const [application, ...others] = resourcesOfClass(ClientApplication, used);
      return id !== undefined && application && others.length === 0
        ? [[id, application] as const]
        : [];
    }),
  );

/**
 * Whether these applications are all that the places contain: true if no ID is known yet, or if all
 * IDs are known and there are enough applications for them. Otherwise, an ID may refer to an
 * application outside the stack.
 */
export const areAllAmong = (
  applications: readonly PolicyResource[],
  places: readonly Place[],
): boolean => {
  const ids = places.flatMap((place) => place.ids);
  const known = new Set(ids.filter((id) => id !== undefined));
  return known.size === 0 || (!ids.includes(undefined) && known.size <= applications.length);
};

/** The name and text of a stack's configuration file. */
export interface StackFile {
  readonly name: string;
  readonly text: string;
}

const projectFolder = (folder: string): string | undefined => {
  if (["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].some((name) => existsSync(join(folder, name))))
    return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : projectFolder(parent);
};

/** Where the project says that the files of its stacks are. */
const stackFolder = (folder: string): string => {
  const project = readdirSync(folder).find((name) => /^Pulumi\.(ya?ml|json)$/.test(name));
  const text = project ? readFileSync(join(folder, project), "utf8") : "";
  const line = text.split("\n").find((each) => /^\s*"?stackConfigDir"?\s*:/.test(each)) ?? "";
  const value = line.slice(line.indexOf(":") + 1).trim();
  const named = value.replace(/,$/, "").replaceAll(/["']/g, "").trim();
  return named ? join(folder, named) : folder;
};

/**
 * Returns a stack's configuration file from the project in a folder or the nearest folder above it;
 * undefined if there is none.
 */
export const stackFileIn = (folder: string, stack: string): StackFile | undefined => {
  const project = projectFolder(folder);
  if (project === undefined) return undefined;
  const names = ["yaml", "yml", "json"].map((type) => `Pulumi.${stack}.${type}`);
  const name = names.find((one) => existsSync(join(stackFolder(project), one)));
  if (name === undefined) return undefined;
  return { name, text: readFileSync(join(stackFolder(project), name), "utf8") };
};
