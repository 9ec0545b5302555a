export type CheckStatus = "ok" | "warn" | "fail" | "skipped";

/** What one check found. Never holds a secret. */
export interface CheckResult {
  /** Stable name, such as `node` or `setting:baseUrl`. */
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found. */
  readonly message: string;
  /** What to do about it; empty where there is nothing to do. */
  readonly advice: string;
}

/** Everything that the checks found; `ok` is false as soon as one of them failed. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

const result =
  (status: CheckStatus) =>
  (name: string, message: string, advice = ""): CheckResult => ({ name, status, message, advice });

export const ok = result("ok");
export const warn = result("warn");
export const fail = result("fail");
export const skipped = result("skipped");
