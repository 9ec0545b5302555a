import type { Emulator } from "../emulator/index.js";
import { describeSettings, type SettingKey } from "../provider/service/settings/settings.js";

/** What an emulator tells about itself that a program needs. */
type EmulatorAccess = Pick<Emulator, "baseUrl" | "tokenUrl" | "clientId" | "clientSecret">;

/** The environment variables that point a program at an emulator. */
export const emulatorEnvironment = (
  { baseUrl, tokenUrl, clientId, clientSecret }: EmulatorAccess,
  plan?: string,
): Readonly<Record<string, string>> => {
  const access = { baseUrl, tokenUrl, clientId, clientSecret };
  const values: Partial<Record<SettingKey, string | undefined>> = { ...access, plan };
  return Object.fromEntries(
    describeSettings().flatMap(({ key, environment }): [string, string][] => {
      const value = values[key];
      return value === undefined ? [] : [[environment, value]];
    }),
  );
};
