import type { PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { fieldsIn, valuesIn } from "../../provider/definition/walk.js";
import { withEnvironmentSecrets } from "../../provider/kernel/environment-secret.js";
import { isObject } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/pointer.js";
import { resources as definitions } from "../../provider/resources/index.js";
import { textsIn } from "../../provider/service/redaction/credential-texts.js";
import { settingTable } from "../../provider/service/settings/setting-table.js";
import { whereKnown } from "./known-values.js";
import { policyNotes } from "./policy-notes.js";
import { type StackFile, stackFileIn } from "./stack-file.js";

/** A shorter text stands in many files without being the secret. */
const leastLength = 6;

const secretSettings = Object.entries(settingTable)
  .filter(([, setting]) => "secret" in setting)
  .map(([name]) => name);

const settingLine = new RegExp(
  String.raw`^\s*["']?(conversation:(?:[\w-]+\.)?(?:${secretSettings.join("|")}))["']?[ \t]*:[ \t]*["']?([^\s"'{][^"'\n]*)`,
  "gm",
);

/** An address without a password is no secret. */
const isSecret = (text: string): boolean =>
  !URL.canParse(text) || new URL(text).password !== "" || !text.includes("://");

const clearSettings = ({ name, text }: StackFile): readonly string[] =>
  [...text.matchAll(settingLine)]
    .filter(([, , value = ""]) => isSecret(value.trim()))
    .map(
      ([, key = ""]) =>
        `${key} stands in clear text in ${name}. Run: pulumi config set --secret ${key}`,
    );

/** A copy without what a preview does not know yet. */
const knownPart = (value: unknown): unknown => {
  if (Array.isArray(value))
    return Array.from({ length: value.length }, (_, place) =>
      whereKnown(() => knownPart(value[place])),
    );
  if (!isObject(value)) return value;
  const entries = Object.keys(value).map((key) => [key, whereKnown(() => knownPart(value[key]))]);
  return Object.fromEntries(entries);
};

/** Without what is taken from the environment: what stands in its place is no secret. */
const storedPart = (value: unknown): unknown => withEnvironmentSecrets(value, () => "");

/** The secret texts of a resource, by where they stand in it. */
const secretsOf = ({ type, props }: PolicyResource): readonly (readonly [string, string])[] => {
  const definition = definitions.find(({ kind }) => typeToken(kind) === type);
  const values = knownPart(props);
  if (!definition || !isObject(values)) return [];
  return valuesIn(definition.fields, values).flatMap(({ field, path, value }) =>
    field.secret === true ? textsIn(storedPart(value)).map((text) => [path, text] as const) : [],
  );
};

/** A line, or what is looked for at its end, without what YAML or JSON puts behind a value. */
const bare = (text: string): string => {
  let end = text.length;
  while (end > 0 && /[,\]}\s]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, /["']/.test(text.charAt(end - 1)) ? end - 1 : end);
};

/** Whether a text is the whole of a value in a line of YAML or JSON. */
const isValueOf = (line: string, text: string): boolean => {
  const before = bare(line).slice(0, -bare(text).length);
  return bare(line).endsWith(bare(text)) && /(^|[:\-,[\s])["']?$/.test(before);
};

const standsIn = (file: StackFile, secret: string): boolean => {
  const spellings = [secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll("'", "''")];
  return file.text
    .split("\n")
    .some((line) => spellings.some((text) => bare(text) !== "" && isValueOf(line, text)));
};

const clearInputs = (file: StackFile, resource: PolicyResource): readonly string[] => {
  const found = secretsOf(resource).filter(
    ([, text]) => text.length >= leastLength && standsIn(file, text),
  );
  return [...new Set(found.map(([path]) => path))].map(
    (path) =>
      `${path} of ${resource.name} comes from clear text in ${file.name}. Set it with: pulumi config set --secret`,
  );
};

const hasSecrets = definitions.filter(({ fields }) =>
  fieldsIn(fields).some(({ field }) => field.secret),
);

/** `no-clear-secrets`: who can read the repository cannot sign in. */
export const noClearSecrets: StackValidationPolicy = {
  ...policyNotes(
    "no-clear-secrets",
    "No secret in clear configuration",
    "Neither the settings of the service nor the secrets of a resource stand in clear text in the stack's file.",
    "Set the value again with pulumi config set --secret, and change it where it is used: the old one has been in the file.",
  ),
  severity: "critical",
  configSchema: {
    properties: {
      folder: {
        type: "string",
        description: "Folder of the Pulumi project. Left out: the one that Pulumi was started in.",
      },
    },
  },
  validateStack: (args, report) => {
    const { folder = process.env.PWD ?? process.cwd() } = args.getConfig<{
      readonly folder?: string;
    }>();
    const stack = args.resources[0]?.urn.split(":")[2];
    const file = stack && stackFileIn(folder, stack);
    if (!file) return args.notApplicable("The configuration file of the stack was not found.");
    for (const text of clearSettings(file)) report(text);
    const tokens = hasSecrets.map(({ kind }) => typeToken(kind));
    for (const resource of args.resources.filter(({ type }) => tokens.includes(type)))
      for (const text of clearInputs(file, resource)) report(text, resource.urn);
  },
};
