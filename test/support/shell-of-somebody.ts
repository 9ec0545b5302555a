import { join } from "node:path";

const service = "https://real.invalid/conversation/v3";

/**
 * What the environment of a person holds who works on a real service and on a stack of a team.
 *
 * @param folder where Pulumi's own files of that person are
 */
export const shellOfSomebody = (folder: string): Readonly<Record<string, string>> => ({
  CONVERSATION_BASE_URL: service,
  CONVERSATION_TOKEN_URL: "https://real.invalid/token",
  CONVERSATION_CLIENT_ID: "real",
  CONVERSATION_CLIENT_SECRET: "real-secret",
  CONVERSATION_PLAN: "developer",
  CONVERSATION_SHARE: "0.1",
  CONVERSATION_REDIS_URL: "redis://real.invalid:1",
  CONVERSATION_PLATFORM_NAME: "acme",
  CONVERSATION_OWNERSHIP_MARK: "none",
  CONVERSATION_STAGING_BASE_URL: service,
  PULUMI_STACK: "acme/prod",
  PULUMI_CONFIG_PASSPHRASE: "of-somebody",
  PULUMI_CONFIG_PASSPHRASE_FILE: "/nowhere",
  PULUMI_BACKEND_URL: "https://real.invalid",
  PULUMI_ACCESS_TOKEN: "pul-real",
  PULUMI_CONFIG: JSON.stringify({ "conversation:baseUrl": service }),
  PULUMI_PARALLEL: "many",
  PULUMI_OPTION_STACK: "acme/prod",
  PULUMI_OPTION_JSON: "true",
  PULUMI_HOME: join(folder, "pulumi-home"),
});
