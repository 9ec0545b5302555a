import * as pulumi from "@pulumi/pulumi";
import type { Definition } from "../provider/definition/define.js";
import { wireName } from "../provider/definition/fields.js";
import { systemClock } from "../provider/kernel/clock.js";
import { ConversationError } from "../provider/kernel/errors.js";
import { memberOf } from "../provider/kernel/json.js";
import { servicePaces } from "../provider/pacing/pacer.js";
import { connectService, type Service } from "../provider/service/connect.js";
import { readSettings } from "../provider/service/settings.js";

/** The criteria of a look-up: the object's natural key. */
export type FoundBy = Readonly<Record<string, string>>;

/** One connection for all concurrent look-ups of a program; the last one closes it. */
interface Shared {
  readonly service: Service;
  readonly close: () => Promise<void>;
  users: number;
}

const connections = new Map<string | undefined, Shared>();

const connect = (profile: string | undefined): Shared => {
  const config = new pulumi.Config("conversation");
  const source = {
    environment: process.env,
    config: (key: string) => config.get(key.replace(/^conversation:/, "")),
  };
  const settings = readSettings(source, profile);
  const notice = (text: string) => void pulumi.log.info(text);
  const paces = servicePaces(settings, {
    clock: systemClock,
    environment: process.env,
    onNotice: notice,
  });
  const service = connectService(settings, { pace: paces.pace(settings) });
  const close = async () => {
    await service.close();
    await paces.close();
  };
  return { service, close, users: 0 };
};

const withService = async <T>(
  profile: string | undefined,
  work: (service: Service) => Promise<T>,
): Promise<T> => {
  const shared = connections.get(profile) ?? connect(profile);
  connections.set(profile, shared);
  shared.users += 1;
  try {
    return await work(shared.service);
  } finally {
    shared.users -= 1;
    if (shared.users === 0) {
      connections.delete(profile);
      await shared.close();
    }
  }
};

const shown = (where: FoundBy): string =>
  Object.entries(where)
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(" and ");

const failed = (code: "NOT_FOUND" | "AMBIGUOUS" | "BAD_RESPONSE", text: string) =>
  new ConversationError(code, text);

/**
 * The id of the one object that matches these texts, from the list of its kind.
 *
 * @throws ConversationError if there is none (`NOT_FOUND`) or several (`AMBIGUOUS`), or if the
 * list cannot be read
 */
export const findObject = (
  definition: Definition,
  where: FoundBy,
  profile: string | undefined,
): Promise<string> =>
  withService(profile, async (service) => {
    const { kind, noun, collection, fields } = definition;
    const { objects, complete } = await service.list(definition);
    const entries = Object.entries(where).map(([key, value]) => {
      const field = fields[key];
      return [field ? wireName(key, field) : key, value] as const;
    });
    const ids = [...objects]
      .filter(([, object]) => entries.every(([key, value]) => memberOf(object, key) === value))
      .map(([id]) => id);
    const [id] = ids;
    const what = `${kind}.find: `;
    if (ids.length > 1)
      throw failed(
        "AMBIGUOUS",
        `${what}${ids.length} objects of the kind ${noun} have the ${shown(where)}: ${ids.join(", ")}. Say which one with ${kind}.get and its id.`,
      );
    if (id !== undefined) return id;
    if (!complete)
      throw failed(
        "BAD_RESPONSE",
        `${what}the service did not give all pages of GET /${collection}, and those that came hold no ${noun} with the ${shown(where)}. Run again later.`,
      );
    throw failed(
      "NOT_FOUND",
      `${what}none of the ${objects.size} objects of the kind ${noun} has the ${shown(where)}. Check the text, and that the settings are those of the right tenant${profile ? ` (profile ${profile})` : ""}.`,
    );
  });
