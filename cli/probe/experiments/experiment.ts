import { isObject } from "../../../provider/kernel/json.js";
import type { FoundValue } from "../../../provider/service/settings/tenant-findings.js";
import type { ProbeObjects } from "../probe-objects.js";
import type { TenantAnswer, TenantClient } from "../tenant-client.js";

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

/** The objects of a list, and how many there are of all. */
export const listIn = ({ body }: TenantAnswer, listKey: string) => {
  const members = isObject(body) ? body : {};
  const list = members[listKey];
  const items = Array.isArray(list) ? list.filter(isObject) : [];
  const info = isObject(members.paginationInfo) ? members.paginationInfo : {};
  const count = typeof info.count === "number" ? info.count : undefined;
  const pageSize = typeof info.pagesize === "number" ? info.pagesize : undefined;
  return { items, count, pageSize };
};

/** Whether a call was refused for what it says, not for a failure. */
export const isRefused = ({ status }: TenantAnswer): boolean => status >= 400 && status < 500;

export const isAccepted = ({ status }: TenantAnswer): boolean => status >= 200 && status < 300;

/** What was answered that no experiment expects. */
export const unexpected = ({ status }: TenantAnswer): StillOpen =>
  stillOpen(`the tenant answered ${status}`);
