import { fieldsWithSecrets } from "../../definition/marked-secrets.js";
import { displaced } from "../../definition/member-rule.js";
import { changesOf, extraChanges } from "../../definition/wire/changes.js";
import { fieldsByWireName, fieldsFromWire } from "../../definition/wire/wire.js";
import { isObject } from "../../kernel/json.js";
import type { Declared } from "../declared.js";
import { readMark } from "../ownership/read-mark.js";
import { describe } from "../ownership/seen-object.js";
import type { PutPlan } from "../put-plan.js";

const listed = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n  ${title}\n${lines.map((line) => `    ${line}`).join("\n")}`;

/** Members that go because the program chose another one in their place. */
const displacedBy = ({ definition }: Declared, { live, body }: PutPlan): readonly string[] =>
  [...displaced(definition, body)].flatMap((wire) => {
    const isGone = live[wire] !== undefined && live[wire] !== null && body[wire] === undefined;
    return isGone ? [fieldsByWireName(definition.fields).get(wire)?.[0] ?? wire] : [];
  });

/** What an adoption will do, for the user to see before it happens. */
export const adoptionText = (declared: Declared, plan: PutPlan): string => {
  const { definition, properties, settings } = declared;
  const { extra, extraSecrets, markedSecrets } = properties;
  const { live, undeclared, hidden, isMarked } = plan;
  const { description } = readMark(live.description);
  const from = fieldsFromWire(definition.fields, { ...live, description }, settings);
  const changes = [
    ...changesOf(fieldsWithSecrets(definition.fields, markedSecrets), from, properties.fields),
    ...(isObject(extra) ? extraChanges(live, extra, extraSecrets) : []),
  ].map(({ path, from: before = "(not set)", to = "(not set)" }) => `${path}: ${before} → ${to}`);
  const gone = displacedBy(declared, plan);
  const head = `adopts the ${describe(definition, live)}`;
  const mark = isMarked ? ", the owner mark is added" : "";
  const change = changes.length + gone.length === 0 ? `; no field changes${mark}` : "";
  return (
    head +
    change +
    listed("changes:", changes) +
    listed("goes, as the program chose another in its place:", gone) +
    listed("stays, as the program does not declare it:", undeclared) +
    listed("erased, as eraseHidden allows:", hidden)
  );
};
