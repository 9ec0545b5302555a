import { isConversationError } from "../../kernel/errors.js";
import { assertNode } from "../../kernel/node-version.js";
import { unknownValue } from "../../kernel/unknown.js";
import type { RunEnvironment } from "../run.js";

/** Whether the settings of a resource are there, and why they cannot be used. */
export interface CheckedSettings {
  readonly areThere: boolean;
  readonly reasons: readonly string[];
}

/** Bad settings are refused where there is something to do; missing ones may be there when it is done. */
export const checkedSettings = (
  run: Pick<RunEnvironment, "settings" | "tell">,
  profile: string | undefined,
): CheckedSettings => {
  if (profile === unknownValue) return { reasons: [], areThere: false };
  try {
    assertNode();
    run.settings?.(profile);
    return { reasons: [], areThere: true };
  } catch (error) {
    if (!isConversationError(error)) throw error;
    if (error.code !== "SETTINGS_MISSING") return { reasons: [error.message], areThere: false };
    run.tell?.(`${error.message} A preview goes on without them; pulumi up will not.`, "warning");
    return { reasons: [], areThere: false };
  }
};
