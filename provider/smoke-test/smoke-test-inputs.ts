import { z } from "zod";
import { normaliseFields } from "../definition/fields.js";
import { sameFields } from "../definition/meaning.js";
import { fieldViolations } from "../definition/violations.js";
import { type JsonObject, objectOf } from "../kernel/json.js";
import { unknownValue } from "../kernel/stand-ins.js";
import type { CheckedInputs } from "../lifecycle/check.js";
import { wrapFieldSecrets } from "../lifecycle/state.js";
import { tokenAddress } from "../service/setting-table.js";
import { defaultTimeout, smokeTest } from "./smoke-test-definition.js";

const inputs = z.object({
  account: z.string(),
  enabled: z.boolean(),
  sender: z.string(),
  text: z.string(),
  customer: z.string(),
  probe: z.object({ url: z.string(), authorization: z.string().optional() }).optional(),
  timeout: z.number().default(defaultTimeout),
  profile: z.string().optional(),
});

/** A smoke test's inputs; `timeout` is in seconds. */
export type SmokeTestInputs = Readonly<z.output<typeof inputs>>;

/** Returns the engine's values for the declared fields, normalized. */
export const fieldsOf = (values: JsonObject): JsonObject => {
  const known = Object.entries(values).filter(([name]) => Object.hasOwn(smokeTest.fields, name));
  return normaliseFields(smokeTest, objectOf(known));
};

/** Converts checked inputs to the form that the test uses. */
export const smokeTestInputs = (values: JsonObject): SmokeTestInputs =>
  inputs.parse(fieldsOf(values));

const result = z.object({
  conversationId: z.string(),
  messageId: z.string(),
  /** When the service accepted the message: ISO 8601, GMT. */
  sentAt: z.string(),
  /** True: seen at the probe. False: accepted by the service, with no further check. */
  arrived: z.boolean(),
  /** The conversation could not be ended after the test. */
  open: z.literal(true).optional(),
});

/** The part of a passed test's result that is stored in the state. */
export type SmokeTestResult = Readonly<z.output<typeof result>>;

/** The test result in a state; undefined if no test has passed yet. */
export const smokeTestResult = (state: JsonObject): SmokeTestResult | undefined =>
  result.safeParse(state).data;

/** A secret must not leave this machine in plain text. */
const probeViolation = ({ probe }: JsonObject): readonly string[] => {
  const given = inputs.shape.probe.safeParse(probe).data;
  if (given?.authorization === undefined || given.url === unknownValue) return [];
  const address = tokenAddress(given.url);
  return "rule" in address
    ? [`probe.url ${address.rule}, because probe.authorization is sent there`]
    : [];
};

/**
 * Returns the normalized inputs and every rule that they break. Has no side effects. The failures
 * have an empty `property`, because the engine would print that property's value.
 */
export const checkSmokeTest = (news: JsonObject): CheckedInputs => {
  const { __provider, ...given } = news;
  const fields = normaliseFields(smokeTest, given);
  const broken = fieldViolations(smokeTest, fields).map(({ path, rule }) => `${path} ${rule}`);
  return {
    inputs: wrapFieldSecrets(smokeTest.fields, fields),
    failures: [...broken, ...probeViolation(fields)].map((reason) => ({ property: "", reason })),
  };
};

/**
 * Whether the inputs have changed, so that the test must run or be recorded as disabled. Changes to
 * a test that stays disabled do not count.
 */
export const smokeTestChanges = (olds: JsonObject, news: JsonObject): boolean => {
  const [old, next] = [fieldsOf(olds), fieldsOf(news)];
  if (old.enabled !== true && next.enabled === false) return false;
  return olds.__provider === undefined || !sameFields(smokeTest.fields, old, next);
};
