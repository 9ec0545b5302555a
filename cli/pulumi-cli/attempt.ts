import type { Progress } from "../terminal/progress.js";

/** Whether one way of getting the CLI worked, and if not why. */
export type Attempt = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** What a way of getting the CLI may use. */
export interface Surroundings {
  readonly progress: Progress;
  /** Aborting ends what is under way. */
  readonly signal: AbortSignal | undefined;
  readonly env: NodeJS.ProcessEnv;
}
