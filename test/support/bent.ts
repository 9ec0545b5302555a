import type { EmulatorOptions } from "../../emulator/index.js";
import { paths } from "../../emulator/listener.js";
import { type Ways, Wire } from "../matrix/support/wire.js";
import { type Emulated, emulated } from "./emulated.js";

/** A hub whose ways a test may change while it runs. */
export interface Bent extends Emulated {
  readonly bend: { ways: Ways | undefined };
}

/** The emulator behind a service with ways of its own. */
export const bent = async (
  ways: Ways = {},
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Bent> => {
  const bend = await Wire.open();
  bend.ways = ways;
  const hub = await emulated(options, {
    ...environment,
    CONVERSATION_BASE_URL: bend.origin + paths.base,
  });
  bend.leadTo(hub.emulator.baseUrl);
  const stop = async (): Promise<void> => {
    await hub.stop();
    await bend[Symbol.asyncDispose]();
  };
  return Object.assign(Object.create(hub) as Emulated, { bend, stop });
};
