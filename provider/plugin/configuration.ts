import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ConversationError } from "../kernel/errors.js";
import { filledText, type JsonObject, objectOf } from "../kernel/json.js";
import {
  holdsUnknown,
  isDefaultProvider,
  isSecretValue,
  ownerParts,
  secretSignature,
  urnParts,
} from "../kernel/pulumi.js";
import { emulatedAddress } from "../service/emulated-settings.js";
import {
  providerAccount,
  type SettingSource,
  settingKeys,
  settingNames,
  settingTable,
} from "../service/settings.js";
import { plainValues } from "./values.js";

/** Input of a provider that nobody gives: whose the objects of its resources are. */
const ownershipKey = "ownership";

/**
 * A setting as text, as configuration and environment hold it; undefined if it is left out.
 * Languages send numbers as numbers, or as JSON text.
 */
const textIn = (values: JsonObject, key: string): string | undefined => {
  const value = values[key];
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
};

/**
 * The ownership in the inputs of a provider, unless it is that of another stack: after `pulumi
 * state move` both would have it, and take each other's objects for their own.
 */
const ownershipIn = (urn: string, inputs: JsonObject): string | undefined => {
  const ownership = filledText(inputs[ownershipKey]);
  const [its, here] = [ownerParts(ownership ?? ""), urnParts(urn)];
  return its.project === here.project && its.stack === here.stack ? ownership : undefined;
};

/**
 * Checks the given settings; missing ones may come from the environment. Creates the ownership only
 * once, because the engine saves it with the provider before creating anything and passes it in
 * `olds` from then on. When the plugin's version changes, the default provider gets a new name and
 * a new ownership, but its resources keep theirs.
 */
export const checkedConfiguration = (
  urn: string,
  olds: JsonObject,
  news: JsonObject,
): { readonly inputs: JsonObject; readonly failures: readonly string[] } => {
  const { project, stack } = urnParts(urn);
  const ownership =
    ownershipIn(urn, olds) ?? `${project}/${stack}/${randomBytes(8).toString("hex")}`;
  const plain = plainValues(news);
  const failures = settingKeys.flatMap((key) => {
    const text = textIn(plain, key);
    if (text === undefined || holdsUnknown(text)) return [];
    const parsed = settingTable[key].parse(settingTable[key].secret ? text : text.trim());
    return "rule" in parsed ? [`${key} ${parsed.rule}`] : [];
  });
  const inputs = Object.entries(news).map(([key, value]): [string, unknown] => {
    const isSecret = settingKeys.some((known) => known === key && settingTable[known].secret);
    const isOpen = isSecret && value !== undefined && value !== null && !isSecretValue(value);
    return [key, isOpen ? { ...secretSignature, value } : value];
  });
  return {
    inputs: { ...objectOf(inputs), [ownershipKey]: ownership },
    failures,
  };
};

interface ConfigurationChange {
  readonly keys: readonly string[];
  /** The resources change to a provider of another account, and get an object there. */
  readonly isMove: boolean;
  /** For the user; left out if there is nothing to say. */
  readonly warning?: string;
}

/**
 * The URL of an account: the environment of the run provides what its provider omits, and a
 * rehearsal the emulator of the account.
 */
const addressIn = (values: JsonObject): string | undefined => {
  const { environment } = settingNames("baseUrl");
  const text = textIn(values, "baseUrl") ?? textIn(process.env, environment);
  const parsed = text === undefined ? undefined : settingTable.baseUrl.parse(text.trim());
  return parsed && "value" in parsed ? emulatedAddress(parsed.value) : text;
};

const movedToDefault = (from: string, to: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `resources of a provider with the base URL ${from} would move to the default provider, which has ${to}. Nothing was changed. If this is another account, give the resources an explicit provider of it, or new logical names. If it is the same, change the base URL in a run of its own.`,
  );

/**
 * Compares two configurations of one provider, or the configurations of two providers if a resource
 * moves from one to the other. An object stays in its account, so a new URL for the same provider
 * counts as another way to reach that account. If the program gives a resource a different explicit
 * provider with a different URL, the object is created in the new account and deleted from the old
 * one. Whether the default provider with a different URL is another account, nothing shows: it
 * replaces that of an earlier version, too.
 *
 * @throws ConversationError `INPUT_INVALID` if a resource moves to it
 */
export const configurationChange = (
  urn: string,
  olds: JsonObject,
  news: JsonObject,
): ConfigurationChange => {
  const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
  const changed = [...names].filter(
    (key) =>
      key !== "version" &&
      // A provider that is the same is configured with its old inputs: one without an ownership, as
      // `pulumi import` writes it, or with that of another stack must change to get it.
      (key !== ownershipKey || ownershipIn(urn, olds) === undefined) &&
      !isDeepStrictEqual(olds[key], news[key]),
  );
  const [from, to] = [addressIn(olds), addressIn(news)];
  if (from === undefined || to === undefined || from === to || holdsUnknown([from, to]))
    return { keys: changed, isMove: false };
  const former = ownershipIn(urn, olds);
  const isOther = former !== undefined && former !== news[ownershipKey];
  if (isOther && isDefaultProvider(urnParts(urn).name)) throw movedToDefault(from, to);
  if (isOther) return { keys: changed, isMove: true };
  return {
    keys: changed,
    isMove: false,
    warning: `The account's base URL changes from ${from} to ${to}. Objects in the state are expected there with the same IDs; none are moved. For another account, declare another provider.`,
  };
};

/**
 * Returns the settings for a provider. The default provider takes them from the environment, then
 * from the stack's configuration. The arguments of an explicit provider take precedence over both.
 *
 * @param name of the provider in the program
 * @param args its checked inputs, secrets in plain text
 * @param env default: that of this process
 * @returns also the owner of new resources: `<project>/<stack>/<random>`; absent during the first
 * `pulumi import` of a stack
 */
export const configurationOf = (
  name: string,
  args: JsonObject,
  env: NodeJS.ProcessEnv = process.env,
): { readonly source: SettingSource; readonly ownership: string | undefined } => {
  const given = settingKeys.filter(
    (key) => !isDefaultProvider(name) && textIn(args, key) !== undefined,
  );
  const replaced = given.map((key) => settingNames(key).environment);
  const environment = Object.entries(env).filter(([key]) => !replaced.includes(key));
  return {
    source: {
      environment: Object.fromEntries(environment),
      config: (key) => textIn(args, key.replace(/^conversation:/, "")),
      ...(given.length > 0 ? { account: providerAccount(name) } : {}),
    },
    ownership: filledText(args[ownershipKey]),
  };
};
