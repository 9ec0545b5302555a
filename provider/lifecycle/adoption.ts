import { changesOf, changeText, extraChanges, typedFields } from "../definition/changes.js";
import { displaced } from "../definition/merge.js";
import { fieldsWithSecrets } from "../definition/secrets.js";
import { fieldsFromWire, unknownMembers } from "../definition/wire.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { withAdvice } from "../kernel/package.js";
import { unknownValue } from "../kernel/stand-ins.js";
import { knownObjects } from "./create.js";
import { adoptee } from "./existing.js";
import { readMark } from "./ownership/mark.js";
import { assertNothingErased, type PutPlan, planPut } from "./put.js";
import { connected, type Declared, type Resource } from "./run.js";
import { describe, seenObject } from "./seen.js";

/**
 * Reads the object to adopt and shows what will change. This is the only check that makes calls,
 * and it does so only if the resource is not in the state. It never writes.
 *
 * @param isNamed whether the program sets the name; otherwise the object keeps its own
 * @returns the resource as it will be, or the reason why it cannot be adopted
 */
export const adopted = async (
  resource: Resource,
  isNamed: boolean,
): Promise<{ readonly resource?: Resource; readonly reason?: string }> => {
  try {
    const declared = await connected(resource);
    const { definition, properties, settings, run } = declared;
    if (declared.name === unknownValue && properties.adopt === true) return {};
    const found = await adoptee(declared, await knownObjects(declared));
    const live = fieldsFromWire(definition.fields, found, settings);
    const { name } = typedFields(definition.fields, live);
    const keepsName = !isNamed && name !== undefined;
    const kept = keepsName ? named(declared, name) : declared;
    // Under a forced replacement the object already belongs to the resource.
    if (!seenObject(declared, found.id, found).isOwn) {
      const plan = planPut(kept, found);
      assertNothingErased(kept, plan);
      run.notify?.(adoptionText(kept, plan), "info");
    }
    return { resource: kept };
  } catch (error) {
    if (isConversationError(error)) return { reason: withAdvice(error) };
    throw error;
  }
};

/** The resource under a name other than the given one. */
const named = (declared: Declared, name: unknown): Declared => {
  const { properties, nameKey } = declared;
  const fields: JsonObject = { ...properties.fields, name };
  return { ...declared, name: fields[nameKey], properties: { ...properties, fields } };
};

const listed = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n  ${title}\n${lines.map((line) => `    ${line}`).join("\n")}`;

/** Describes what an adoption will do, so that the user sees it before it happens. */
const adoptionText = (declared: Declared, plan: PutPlan): string => {
  const { definition, properties, settings } = declared;
  const { extra, extraSecrets, markedSecrets } = properties;
  const { live, body, fields, undeclared, hidden, isMarked } = plan;
  const { description } = readMark(live.description);
  const from = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const changes = [
    ...changesOf(fieldsWithSecrets(definition.fields, markedSecrets), from, properties.fields),
    ...(isObject(extra) ? extraChanges(live, extra, extraSecrets) : []),
  ].map(changeText);
  const sent = unknownMembers(definition, body);
  const unsent = unknownMembers(definition, live).filter((path) => !sent.includes(path));
  // The program chose another member instead.
  const gone = [...displaced(definition, fields)].filter((name) => from[name] !== undefined);
  const head = `adopts the ${describe(definition, live)}`;
  const mark = isMarked ? ", but the owner mark is added" : "";
  const change = changes.length + gone.length === 0 ? `; no field changes${mark}` : "";
  return (
    head +
    change +
    listed("changes:", changes) +
    listed("erased, because the program sets another member instead:", gone) +
    listed("unchanged, because not declared in the program:", undeclared) +
    listed("not sent, because the service is documented to refuse unknown members:", unsent) +
    listed("erased, because eraseHidden allows it:", hidden)
  );
};
