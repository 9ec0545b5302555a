import { inspect } from "node:util";
import { isObject } from "../../../provider/kernel/json.js";
import { marker } from "../../support/forms.js";

const signature = "4dabf18193072939515e22adb298388d";

/** A value without what the engine encrypts. */
export const withoutSealed = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member) =>
      isObject(member) && signature in member ? "[sealed]" : member,
    ) ?? "null",
  );

/** Everything that an error tells, in every way in which somebody may print it. */
const reported = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { properties, ...others } = error as Error & { properties?: unknown };
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(others),
    JSON.stringify(withoutSealed(properties)),
    properties === undefined ? inspect(error, { depth: 10 }) : "",
  ].join("\n");
};

export const leaksIn = (value: unknown, ...secrets: readonly string[]): string[] => {
  const text = value instanceof Error ? reported(value) : JSON.stringify(withoutSealed(value));
  const searched = [marker, ...secrets.flatMap((secret) => [secret, encodeURIComponent(secret)])];
  return text.split("\n").filter((line) => searched.some((secret) => line.includes(secret)));
};
