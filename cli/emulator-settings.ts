import { describeSettings, type SettingKey } from "../provider/service/settings/settings.js";

/** What an emulator tells about itself that a program needs. */
export interface EmulatorAccess {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The environment variables that point a program at an emulator. */
export const emulatorEnvironment = (
  { baseUrl, tokenUrl, clientId, clientSecret }: EmulatorAccess,
  plan?: string,
): Readonly<Record<string, string>> => {
  const values: Partial<Record<SettingKey, string | undefined>> = {
    baseUrl,
    tokenUrl,
    clientId,
    clientSecret,
    plan,
  };
  return Object.fromEntries(
    describeSettings().flatMap(({ key, environment }): [string, string][] => {
      const value = values[key];
      return value === undefined ? [] : [[environment, value]];
    }),
  );
};
