import type { Emulator } from "../emulator/index.js";
import { describeSettings, type SettingKey } from "../provider/service/settings.js";

type EmulatorAccess = Pick<Emulator, "baseUrl" | "tokenUrl" | "clientId" | "clientSecret">;

/** Where to control an emulator, and how people sign in. */
type EmulatorAddress = Pick<Emulator, "authUrl" | "controlUrl" | "controlSecret">;

/** What a program that tests against an emulator may need in addition to the settings. */
export const testEnvironment = (emulator: EmulatorAddress): Readonly<Record<string, string>> => ({
  CONVERSATION_AUTH_URL: emulator.authUrl,
  CONVERSATION_CONTROL_URL: emulator.controlUrl,
  ...(emulator.controlSecret === undefined
    ? {}
    : { CONVERSATION_CONTROL_SECRET: emulator.controlSecret }),
});

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
