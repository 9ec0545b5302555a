import { ConversationError } from "../provider/kernel/errors.js";
import { environmentSecretFault, environmentSecretText } from "../provider/kernel/stand-ins.js";

/** Identifies one value of a variable. */
export interface FromEnvOptions {
  /**
   * Change it whenever the value changes. 1 to 64 letters, digits, dots, `_` or `-`, such as `2` or
   * `2026-11`. Only a new version makes `pulumi up` write the new value.
   */
  readonly version: string | number;
}

/**
 * Creates a secret that never enters the state. When the provider writes the object, it reads the
 * secret from an environment variable of the process that runs Pulumi. The program, configuration
 * and state contain only the name and the version. Use it for all or part of any secret field: ``
 * `Bearer ${fromEnv("TOKEN", { version: 1 })}` ``.
 *
 * Preview, refresh and destroy do not need the variable. If it is not set, a write that needs it
 * fails without changing anything.
 *
 * @param name of the variable: letters, digits and `_`
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
