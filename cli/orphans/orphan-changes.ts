import type { Definition } from "../../provider/definition/define.js";
import { mergeFields } from "../../provider/definition/merge.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import type { Orphan } from "../../provider/lifecycle/ownership/orphans.js";
import { describeUser, usersOf } from "../../provider/lifecycle/ownership/users.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/collections.js";
import type { Settings } from "../../provider/service/setting-table.js";
import type { ServiceAccess } from "../account/open-account.js";
import { messageOf } from "../command.js";
import { type FoundOrphan, shownOrphan } from "./orphans-report.js";

/** Why an object could not be deleted; a refusal names who still uses it. */
const reasonOf = async (
  error: unknown,
  { definition, id, mark }: Orphan,
  session: AccountSession,
): Promise<string> => {
  if (!isConversationError(error, "REJECTED", "FORBIDDEN")) return messageOf(error);
  const users = await usersOf(definition, id, session, resources);
  if (users.length === 0) return messageOf(error);
  const named = users.map((user) => describeUser(user, mark)).join("; ");
  return `the service refuses (${error.details.status ?? "no status"}), as it is used by ${named}`;
};

/** Deletes an object. @returns why it is still there; undefined: it is gone */
const removeOrphan = async (
  orphan: Orphan,
  session: AccountSession,
): Promise<string | undefined> => {
  try {
    await session.service.remove(orphan.definition, orphan.id);
    return undefined;
  } catch (error) {
    return reasonOf(error, orphan, session);
  }
};

/** The body of the PUT that takes a mark off, and what it would erase as the service hides it. */
interface Unmarked {
  readonly body: JsonObject;
  /** Paths such as `basicAuth.password`. */
  readonly hidden: readonly string[];
}

/** What a person wrote; where that is nothing and a PUT keeps what it leaves out, the name. */
const descriptionOf = (definition: Definition, live: WireObject, keeps: boolean): JsonObject => {
  const { description } = readMark(live.description);
  const written = description ?? (keeps ? nameOnWire(definition, live) : undefined);
  return objectOf([["description", written]]);
};

/** A live object without its mark, everything else as it is. */
const withoutMark = (
  definition: Definition,
  live: WireObject,
  { put }: Pick<Settings, "put">,
): Unmarked => {
  const { id: _, created: __, modified, ...rest } = live;
  const keeps = put === "keep";
  const { body, hidden } = mergeFields({
    fields: definition.fields,
    rule: definition.rule,
    live: rest,
    desired: descriptionOf(definition, live, keeps),
    prior: objectOf([["description", live.description]]),
    keeps,
  });
  return { body: modified === undefined ? body : { ...body, modified }, hidden };
};

/** Takes the mark off an object. @returns why it is still there; undefined: it is gone */
const releaseOrphan = async (
  { definition, id, mark }: Orphan,
  { service, settings }: AccountSession,
): Promise<string | undefined> => {
  try {
    const live = await service.read(definition, id);
    if (!live) return "it is gone";
    const there = readMark(live.description).mark;
    if (!there) return undefined;
    if (there.stack !== mark.stack || there.resource !== mark.resource)
      return `somebody has marked it anew since: ${there.label}`;
    const { body, hidden } = withoutMark(definition, live, settings);
    if (hidden.length > 0)
      return (
        `the service hides ${hidden.join(", ")}, which a change would erase. Take the mark off the end of its ` +
        "description where it can be edited without that, or delete it: orphans --delete --id"
      );
    await service.replace(definition, id, body);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** What is to be done with objects, in words for messages. */
export interface Purpose {
  /** Such as `deleted`. */
  readonly done: string;
  readonly option: "--delete" | "--release";
}

/** Changes one object; `assertStill` passes right before anything is sent, once nobody else is at work on it. */
export const changeOrphan = async (
  orphan: Orphan,
  { option }: Purpose,
  access: ServiceAccess,
  assertStill: () => Promise<void>,
): Promise<FoundOrphan> => {
  const act = option === "--delete" ? removeOrphan : releaseOrphan;
  const reason = await access.guarded(assertStill, () => act(orphan, access));
  const ok = reason === undefined;
  return {
    ...shownOrphan(orphan),
    ...(option === "--delete" ? { deleted: ok } : { released: ok }),
    ...(ok ? {} : { reason }),
  };
};
