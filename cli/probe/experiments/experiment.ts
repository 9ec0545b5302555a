import type { FoundValue } from "../../../provider/service/settings.js";
import type { ProbeObjects } from "../probe-objects.js";
import { ofEveryCall, type TenantAnswer, type TenantClient } from "../tenant-client.js";

/** What an experiment works with. */
export interface ProbeMeans {
  readonly client: TenantClient;
  readonly objects: ProbeObjects;
}

/** Something that stayed open, and why. */
export interface StillOpen {
  readonly open: string;
}

export const stillOpen = (open: string): StillOpen => ({ open });

/** What an experiment found out, by name. */
export type Answers = Readonly<Record<string, FoundValue | StillOpen>>;

/** A question to a tenant. */
export interface Experiment {
  /** For people, such as `what PUT does to members that it leaves out`. */
  readonly asks: string;
  /** What it finds out, by name. */
  readonly names: readonly string[];
  /** Most calls that it makes, those that remove its objects included; repeats beyond a rate not. */
  readonly mostCalls: number;
  readonly run: (means: ProbeMeans) => Promise<Answers>;
}

/** Whether a call was refused for what it says, not for a failure. */
export const isRefused = ({ status }: Pick<TenantAnswer, "status">): boolean =>
  status >= 400 && status < 500 && !ofEveryCall.includes(status);

export const isAccepted = ({ status }: Pick<TenantAnswer, "status">): boolean =>
  status >= 200 && status < 300;

/** What was answered that no experiment expects. */
export const unexpected = ({ status }: Pick<TenantAnswer, "status">): StillOpen =>
  stillOpen(`the tenant answered ${status}`);

/** The same answer for several names. */
export const allOpen = (names: readonly string[], open: StillOpen): Answers =>
  Object.fromEntries(names.map((name) => [name, open]));
