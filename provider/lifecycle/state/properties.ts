import { environmentSecretPaths } from "../../kernel/environment-secret.js";
import {
  filledText,
  filledTexts,
  isObject,
  type JsonObject,
  objectOf,
  present,
} from "../../kernel/json.js";
import { unknownValue } from "../../kernel/unknown.js";

/** A resource's values: the fields of its kind, and what every resource takes besides. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: whose the object is. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /** Further members of the service's JSON; the engine's text for what is not known yet, in a preview. */
  readonly extra?: JsonObject | typeof unknownValue;
  /** Paths into `extra` whose values are secret: what the program marks, and what holds a secret of the environment. */
  readonly extraSecrets?: readonly string[];
  /** Paths into the fields whose values the program marks as secret, though their definition does not. */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase what the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learnt of the object when it was made or written; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state keeps of an object besides what the program says. */
export interface ObjectRecord {
  /** Tells the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not name. */
  readonly undeclared?: readonly string[];
}

/** A program cannot see what an output of its `extra` will hold, so what takes the environment's place is looked for here. */
const secretPaths = (extra: unknown, marked: unknown): readonly string[] | undefined => {
  const paths = new Set([...(filledTexts(marked) ?? []), ...environmentSecretPaths(extra)]);
  return filledTexts([...paths].sort());
};

/**
 * The values that the engine hands over, in their parts; what the engine or the service put in besides
 * is left out, and so is `autoName`, which is for the check alone.
 */
export const propertiesIn = (values: JsonObject): Properties => {
  const { owner, adopt, extra, extraSecrets, markedSecrets, profile, eraseHidden, ...others } =
    values;
  const { serial, created, modified, undeclared, __provider, id, autoName, ...fields } = others;
  const record = present<ObjectRecord>({
    serial: filledText(serial),
    created: filledText(created),
    modified: filledText(modified),
    undeclared: filledTexts(undeclared),
  });
  return present<Properties>({
    fields: objectOf(Object.entries(fields)),
    owner: filledText(owner),
    adopt: adopt === true ? adopt : filledText(adopt),
    extra: isObject(extra) ? extra : extra === unknownValue ? unknownValue : undefined,
    extraSecrets: secretPaths(extra, extraSecrets),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};
