import { ConversationError } from "../provider/kernel/errors.js";
import { environmentSecretFault, environmentSecretText } from "../provider/kernel/pulumi.js";

/** Options for `fromEnv`. */
export interface FromEnvOptions {
  /**
   * Version of the variable's value: 1 to 64 letters, digits, dots, `_`, or `-`, such as `2` or
   * `2026-11`. Change it whenever the value changes, because only a new version makes `pulumi up`
   * write the new value.
   */
  readonly version: string | number;
}

/**
 * Returns a placeholder for a secret that never enters the state. When the provider writes an
 * object, it reads the secret from an environment variable of the process that runs Pulumi. The
 * program, configuration, and state contain only the variable's name and version. Use the
 * placeholder as all or part of any secret field: `` `Bearer ${fromEnv("TOKEN", { version: 1 })}`
 * ``.
 *
 * Preview, refresh, and destroy do not need the variable. If the variable is not set, a write that
 * needs it fails without changing anything.
 *
 * @param name of the variable: letters, digits, and `_`
 * @returns a placeholder for the value
 * @throws ConversationError `INPUT_INVALID` if the name or the version is invalid
 * @example
 * new Authentication("desk", {
 *   basicAuth: { username: "hub", password: fromEnv("DESK_PASSWORD", { version: 1 }) },
 * });
 */
export const fromEnv = (name: string, options: FromEnvOptions): string => {
  // Programs in JavaScript may leave it out.
  const given: unknown = options?.version;
  const version = typeof given === "string" || typeof given === "number" ? String(given) : "";
  const fault = environmentSecretFault(name, version);
  if (fault === undefined) return environmentSecretText(name, version);
  throw new ConversationError(
    "INPUT_INVALID",
    `fromEnv(${JSON.stringify(name)}, { version: ${JSON.stringify(version)} }): ${fault}.`,
  );
};
