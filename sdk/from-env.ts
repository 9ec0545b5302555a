import { ConversationError } from "../provider/kernel/errors.js";
import { environmentSecretFault, environmentSecretText } from "../provider/kernel/stand-ins.js";

/** Identifies a value of a variable. */
export interface FromEnvOptions {
  /**
   * Changes whenever the value does: 1 to 64 letters, digits, dots, `_` or `-`, such as `2` or
   * `2026-11`. A new version is what makes `pulumi up` write the new value.
   */
  readonly version: string | number;
}

/**
 * A secret that is in no state: the provider takes it from an environment variable of the process
 * that runs Pulumi, at the moment when it writes the object. Program, configuration and state hold
 * only the name and the version. For every secret field, also for a part of one:
 * `` `Bearer ${fromEnv("TOKEN", { version: 1 })}` ``.
 *
 * Preview, refresh and destroy do without the variable; an update that has to write it fails if it
 * is not set, and writes nothing.
 *
 * @param name of the variable: letters, digits and `_`
 * @returns what stands in the place of the value
 * @throws ConversationError `INPUT_INVALID` if no variable can have the name, or the version has
 * other characters
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
