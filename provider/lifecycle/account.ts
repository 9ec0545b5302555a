import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import { assertDistinctProfiles } from "../service/settings.js";
import { markOf, roomBeside } from "./ownership.js";
import { type Declared, type Resource, resourceIn } from "./resource.js";
import type { AccountSession, HeldObject, Run } from "./run.js";

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

const inAccount = (resource: Resource, { settings, service }: AccountSession): Declared => {
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

/** Returns the resource as it was when its object was last written, but in its current account. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Declared =>
  inAccount(resourceIn(declared.definition, declared.run, olds), declared);

/** Records that an object belongs to the resource. */
export const assignObject = ({ identity, run }: Resource, object: HeldObject): void => {
  if (!identity) return;
  run.decisions.objects.set(identity.key, object);
  run.decisions.holders.set(object.id, identity);
};
