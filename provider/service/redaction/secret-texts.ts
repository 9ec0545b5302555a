import type { Fields } from "../../definition/define.js";
import { membersIn, valuesIn } from "../../definition/walk.js";
import { isObject } from "../../kernel/json.js";
import type { Settings } from "../settings/setting-table.js";
import { basicCredentials, credentialsOf, textsIn } from "./credential-texts.js";

/** What no answer of any address may show of a client's credentials. */
export const clientSecrets = ({ clientId, clientSecret }: Settings): readonly string[] => [
  clientSecret,
  ...basicCredentials(clientId, clientSecret),
];

/**
 * Every text that secret fields hold, and the Basic credentials that they make: of values as a program
 * gives them and of the service's JSON alike.
 */
export const secretTexts = (fields: Fields, values: unknown): string[] => {
  if (!isObject(values)) return [];
  const all = valuesIn(fields, values);
  const inner = all.map(({ field, value }) =>
    field.type === "object" && isObject(value) ? membersIn(field.fields, value) : [],
  );
  return [
    ...all.flatMap(({ field, value }) => (field.secret ? textsIn(value) : [])),
    ...[membersIn(fields, values), ...inner].flatMap(credentialsOf),
  ];
};
