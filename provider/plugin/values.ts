import type { Definition, Fields } from "../definition/define.js";
import { valuesIn } from "../definition/fields.js";
import { wrongKind } from "../definition/kinds.js";
import { isObject, type JsonObject, objectOf } from "../kernel/json.js";
import {
  isSecretValue,
  kindOfToken,
  secretSignature,
  unknownValue,
  urnParts,
} from "../kernel/pulumi.js";

/**
 * The engine's forms of values that JSON lacks, by the signature that each carries. Public as
 * `pulumi.runtime.specialSigKey` and its neighbors; see `pulumi.ts` for secrets.
 */
const [signatureKey = ""] = Object.keys(secretSignature);

const signatures = {
  asset: "c44067f5952c0a294b673a41bacd8c17",
  archive: "0def7320c3a5731c473e5ecbe6d01bc7",
  reference: "5cf8f73096256a8f31e491e813e4eb8e",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

const isA = (form: keyof typeof signatures, value: unknown): value is JsonObject =>
  isObject(value) && value[signatureKey] === signatures[form];

const secret = (value: unknown): JsonObject => ({ ...secretSignature, value });

/** A value with every part of it changed, innermost first. */
const changed = (value: unknown, change: (part: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return change(value.map((item) => changed(item, change)));
  if (!isObject(value)) return change(value);
  return change(
    objectOf(Object.entries(value).map(([name, member]) => [name, changed(member, change)])),
  );
};

/** An output in the forms that stand for its state: unknown, secret, or just the value. */
const withoutOutput = (part: unknown): unknown => {
  if (!isA("output", part)) return part;
  const value = Object.hasOwn(part, "value") ? part.value : unknownValue;
  return part.secret === true ? secret(value) : value;
};

/** The ID of a resource that was given in place of it. */
const asId = (part: unknown): unknown => {
  if (!isA("reference", part)) return part;
  const { id } = part;
  if (typeof id === "string" && id !== "") return id;
  // A component has no id at all.
  return Object.hasOwn(part, "id") ? unknownValue : undefined;
};

const opened = (part: unknown): unknown => (isSecretValue(part) ? part.value : part);

/**
 * Converts values to the form that the lifecycle uses: secrets in plain text, resources as their
 * IDs.
 */
export const plainValues = (values: JsonObject): JsonObject => {
  const plain = changed(values, (part) => asId(opened(withoutOutput(part))));
  return isObject(plain) ? plain : {};
};

/** A program's inputs, in the form that the lifecycle uses. */
export interface GivenInputs {
  readonly values: JsonObject;
  /** The program's inputs, with every secret in the engine's own form. */
  readonly marked: JsonObject;
  /** Why some values are invalid; each reason names the property. */
  readonly faults: readonly string[];
}

/** Converts a program's inputs for the lifecycle, and finds invalid values. */
export const givenInputs = (definition: Definition, news: JsonObject): GivenInputs => {
  const tree = changed(news, withoutOutput);
  const marked = isObject(tree) ? tree : {};
  const open = changed(marked, opened);
  const plain = plainValues(marked);
  // A text in the schema, which has one type for it.
  const values = plain.adopt === "true" ? { ...plain, adopt: true } : plain;
  return { values, marked, faults: isObject(open) ? faultsIn(definition, open) : [] };
};

const faultsIn = ({ fields }: Definition, values: JsonObject): readonly string[] => [
  ...Object.entries(values).flatMap(([property, value]) =>
    isA("asset", value) || isA("archive", value)
      ? [
          `${property}: must not be an asset; give the file's content as text, in base64 if it is binary`,
        ]
      : [],
  ),
  ...wrongReferences(fields, values),
];

const wrongReferences = (fields: Fields, values: JsonObject): readonly string[] =>
  valuesIn(fields, values).flatMap(({ field, path, value }) => {
    if (field.type !== "reference" || !isA("reference", value)) return [];
    const { type, name } = urnParts(String(value.urn));
    const kind = kindOfToken(type) ?? type;
    if (kind === field.to.kind) return [];
    return [wrongKind(path, [field.to.kind], `got the ${kind} ${JSON.stringify(name)}`)];
  });
