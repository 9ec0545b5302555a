import * as pulumi from "@pulumi/pulumi";
import type { Definition } from "../provider/definition/define.js";
import { type FoundBy, foundId } from "../provider/definition/found-object.js";
import { systemClock } from "../provider/kernel/clock.js";
import { servicePaces } from "../provider/pacing/pacer.js";
import { connectService, type Service } from "../provider/service/connect.js";
import { calledAccount } from "../provider/service/emulated-settings.js";
import type { Settings } from "../provider/service/settings.js";

/** One connection to an account for all concurrent look-ups in it; the last one closes it. */
interface Shared {
  readonly service: Service;
  readonly close: () => Promise<void>;
  users: number;
}

/** By settings: programs of several stacks may run at once (Automation API), each in its account. */
const connections = new Map<string, Shared>();

const readAccount = (profile: string | undefined): Settings => {
  const config = new pulumi.Config("conversation");
  const source = {
    environment: process.env,
    config: (key: string) => config.get(key.replace(/^conversation:/, "")),
  };
  return calledAccount(source, profile);
};

const connect = (settings: Settings): Shared => {
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
  const settings = readAccount(profile);
  const account = JSON.stringify(settings);
  const shared = connections.get(account) ?? connect(settings);
  connections.set(account, shared);
  shared.users += 1;
  try {
    return await work(shared.service);
  } finally {
    shared.users -= 1;
    if (shared.users === 0) {
      connections.delete(account);
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
