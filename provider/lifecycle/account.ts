import { assertNode } from "../kernel/node-version.js";
import { assertDistinctProfiles } from "../service/settings.js";
import { markOf, roomBeside } from "./ownership.js";
import type { Declared, Resource } from "./resource.js";
import type { AccountSession, Run } from "./run.js";

/**
 * Returns a profile's session, which is created on first use so that a run without changes needs
 * neither settings nor a token.
 */
export const openSession = (run: Run, profile?: string): Promise<AccountSession> => {
  const { sessions } = run;
  const known = sessions.get(profile);
  if (known) return known;
  const made = (async () => {
    assertNode();
    assertDistinctProfiles(profile, sessions.keys());
    return run.connect(profile);
  })();
  sessions.set(profile, made);
  // A failure to connect is not cached: the next call reads the settings again.
  made.catch(() => sessions.delete(profile));
  return made;
};

/** Returns the resource together with the account that its settings specify. */
export const connected = async (resource: Resource): Promise<Declared> =>
  inAccount(resource, await openSession(resource.run, resource.properties.profile));

/** Returns a resource together with the account of a session. */
export const inAccount = (resource: Resource, { settings, service }: AccountSession): Declared => {
  const { definition, properties } = resource;
  const { owner, fields } = properties;
  const { description: field } = definition.fields;
  const ownMark = owner === undefined ? undefined : markOf(definition.kind, owner);
  const room = ownMark && field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const mark = isOn ? ownMark : undefined;
  const { description } = fields;
  const beside = typeof description === "string" && description ? description.length + 1 : 0;
  const isMarked = mark !== undefined && beside <= room;
  return { ...resource, settings, service, ownMark, mark, room, isMarked };
};
