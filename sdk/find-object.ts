import * as pulumi from "@pulumi/pulumi";
import type { Definition } from "../provider/definition/define.js";
import { type FoundBy, foundId } from "../provider/definition/found-object.js";
import { systemClock } from "../provider/kernel/clock.js";
import { servicePaces } from "../provider/pacing/pacer.js";
import { connectService, type Service } from "../provider/service/connect.js";
import { calledAccount } from "../provider/service/emulated-settings.js";

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
  const settings = calledAccount(source, profile);
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

/**
 * Lists the objects of a kind, and returns the ID of the only one with these values.
 *
 * @throws ConversationError if there is none (`NOT_FOUND`) or several (`AMBIGUOUS`), or if the list
 * cannot be read
 */
export const findObject = (
  definition: Definition,
  where: FoundBy,
  profile: string | undefined,
): Promise<string> =>
  withService(profile, async (service) =>
    foundId(await service.list(definition), definition, where, profile),
  );
