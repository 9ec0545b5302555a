import { readSettings } from "../../provider/service/settings.js";

/** The settings of an account that is not asked. */
export const hubEnvironment = {
  CONVERSATION_BASE_URL: "https://hub.example.com/v3",
  CONVERSATION_TOKEN_URL: "https://hub.example.com/token",
  CONVERSATION_CLIENT_ID: "id",
  CONVERSATION_CLIENT_SECRET: "secret",
};

/** The same as they are read, with others beside them. */
export const hubSettings = (more: Readonly<Record<string, string>> = {}, profile?: string) =>
  readSettings({ environment: { ...hubEnvironment, ...more }, config: () => undefined }, profile);
