import type { Violation } from "../definition/violations.js";
import { valuesIn } from "../definition/walk.js";
import { ConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import {
  type EnvironmentSecret,
  environmentSecretsIn,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import type { Resource } from "./resource.js";
import type { RunEnvironment } from "./run.js";
import { changeFieldSecrets } from "./state.js";

type Environment = Readonly<Record<string, string | undefined>>;

const environmentOf = ({ environment }: Pick<RunEnvironment, "environment">): Environment =>
  environment ?? process.env;

const missing = ({ name, version }: EnvironmentSecret): string =>
  `a secret of it is taken from the environment variable ${name} (version ${version}), which is not set`;

/**
 * Values with the secrets of the environment in their places, as the service gets them.
 *
 * @throws ConversationError `SETTINGS_MISSING` where a variable is not set
 */
export const writtenSecrets = <T>(value: T, environment: Environment = process.env): T =>
  withEnvironmentSecrets(value, (secret) => {
    const found = environment[secret.name];
    if (found) return found;
    throw new ConversationError(
      "SETTINGS_MISSING",
      `${missing(secret)}. Nothing was changed. Set ${secret.name} where Pulumi runs, then run it again.`,
    );
  });

/** A resource as the service gets it. @throws ConversationError `SETTINGS_MISSING` */
export const asWritten = <R extends Resource>(resource: R): R => ({
  ...resource,
  properties: writtenSecrets(resource.properties, environmentOf(resource.run)),
});

/**
 * A resource as it was last written: the value of a version that is no longer declared is not known
 * any more, so what stands in its place stays.
 */
export const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  const environment = environmentOf(now.run);
  const declared = new Set(environmentSecretsIn(now.properties).map(({ text }) => text));
  const known = ({ name, text }: EnvironmentSecret) =>
    declared.has(text) ? environment[name] || undefined : undefined;
  return { ...before, properties: withEnvironmentSecrets(before.properties, known) };
};

/**
 * The fields with the secrets that this process can see, so that they are checked, too. Only in secret
 * fields: the rule that another one breaks may show its value.
 *
 * @param reports whether to say which variables are not set: a preview goes on without them
 */
export const checkedSecrets = (resource: Resource, reports: boolean): JsonObject => {
  const { run, definition, name, properties } = resource;
  const environment = environmentOf(run);
  for (const secret of reports ? environmentSecretsIn(properties) : []) {
    if (environment[secret.name]) continue;
    run.notify?.(
      `${definition.kind} ${JSON.stringify(name)}: ${missing(secret)}. A preview goes on without it; pulumi up will not.`,
      "warning",
    );
  }
  const found = ({ name: variable }: EnvironmentSecret) => environment[variable] || undefined;
  return changeFieldSecrets(definition.fields, properties.fields, (secret) =>
    withEnvironmentSecrets(secret, found),
  );
};

/** What is not secret is shown and compared, so the environment cannot stand behind it. */
export const misplacedSecrets = ({ definition, properties }: Resource): readonly Violation[] =>
  valuesIn(definition.fields, properties.fields).flatMap(({ field, path, value }) =>
    field.secret || typeof value !== "string" || environmentSecretsIn(value).length === 0
      ? []
      : [
          {
            path,
            rule: "is no secret, and fromEnv is for secrets only. Read the variable in the program",
          },
        ],
  );

/** The secrets of the environment inside values, as far as this process can see them, and the values with them. */
export const secretsSeen = (
  values: JsonObject,
  run: Pick<RunEnvironment, "environment">,
): { readonly texts: readonly string[]; readonly written: JsonObject } => {
  const environment = environmentOf(run);
  const seen = ({ name }: EnvironmentSecret) => environment[name] || undefined;
  return {
    texts: environmentSecretsIn(values).flatMap((secret) => seen(secret) ?? []),
    written: withEnvironmentSecrets(values, seen),
  };
};
