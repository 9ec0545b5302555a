import { z } from "zod";
import { typeToken } from "../../provider/pointer.js";
import { modelResources, type Name } from "../model/scenario.js";
import type { CliProject } from "./cli-project.js";

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  id: z.string().default(""),
  delete: z.boolean().default(false),
  pendingReplacement: z.boolean().default(false),
});

const stateFile = z.object({
  checkpoint: z.object({
    latest: z.object({ resources: z.array(resource).default([]) }).nullish(),
  }),
});

/** What the state of a stack tells of a scenario's resources. */
export interface ReplayState {
  /** Id of the `Ownership`; empty where there is none. */
  readonly ownership: string;
  /** Resources, without those that a replacement has still to delete or to make again. */
  readonly resources: ReadonlyMap<Name, { readonly id: string; readonly urn: string }>;
  /** Whether there is anything at all, what replacements left included. */
  readonly isEmpty: boolean;
}

const isName = (text: string): text is Name => text in modelResources;

export const readReplayState = (project: CliProject): ReplayState => {
  const { checkpoint } = stateFile.parse(JSON.parse(project.state()));
  const all = checkpoint.latest?.resources ?? [];
  const named = all.flatMap(({ urn, id, delete: isOld, pendingReplacement: isGone }) => {
    const name = urn.split("::").at(-1) ?? "";
    return isName(name) && !isOld && !isGone ? [[name, { id, urn }] as const] : [];
  });
  return {
    ownership: all.find(({ type }) => type === typeToken("Ownership"))?.id ?? "",
    resources: new Map(named),
    isEmpty: all.length === 0,
  };
};
