import { hash } from "node:crypto";
import { ConversationError } from "../../../provider/kernel/errors.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { type Lifecycle, lifecycle } from "../../../provider/lifecycle/index.js";
import {
  ownershipKind,
  ownershipLifecycle,
} from "../../../provider/lifecycle/ownership/ownership.js";
import { createRun } from "../../../provider/lifecycle/run.js";
import { typeToken } from "../../../provider/pointer.js";
import { resources } from "../../../provider/resources/index.js";
import { smokeTest } from "../../../provider/smoke-test/smoke-test-definition.js";
import { smokeTestLifecycle } from "../../../provider/smoke-test/smoke-test-lifecycle.js";

/** Checks resources as a preview does, without the service: by the kind's type token. */
export interface MockedChecks {
  /** Undefined for resources of other packages. */
  readonly of: (type: string) => Pick<Lifecycle, "check"> | undefined;
}

const noSettings = (): never => {
  throw new ConversationError("SETTINGS_MISSING", "A unit test has no settings of the service.");
};

/** The checks of one run of a program: a unique name that is given twice is refused. */
export const mockedChecks = (): MockedChecks => {
  const run = createRun(async () => noSettings(), { settings: noSettings });
  const checks = new Map<string, Pick<Lifecycle, "check">>([
    [typeToken(ownershipKind), ownershipLifecycle],
    [typeToken(smokeTest.kind), smokeTestLifecycle({ session: async () => noSettings() })],
    ...resources.map((definition) => {
      const checked: [string, Lifecycle] = [typeToken(definition.kind), lifecycle(definition, run)];
      return checked;
    }),
  ]);
  return { of: (type) => checks.get(type) };
};

/** An id as the service makes them, always the same for the same resource. */
export const mockedId = (type: string, name: string): string => {
  const digest = hash("sha256", `${type} ${name}`);
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`];
  return [...parts, `8${digest.slice(17, 20)}`, digest.slice(20, 32)].join("-");
};

/** The inputs without what only the provider needs. */
export const givenInputs = ({ __provider, owner, autoName, ...inputs }: JsonObject): JsonObject =>
  inputs;
