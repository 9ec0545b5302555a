import { endProcessesWith } from "../process/process-group.js";

/** Marks every process that is started for the quick start of one checkout. */
const OWNER = "PULUMI_CONVERSATION_QUICKSTART";

/** What the environment of such a process holds. */
export const ownedBy = (stateFolder: string): Readonly<Record<string, string>> => ({
  [OWNER]: stateFolder,
});

/** Ends what a killed run of the quick start has left behind. */
export const endLeftovers = (stateFolder: string): void => endProcessesWith(OWNER, stateFolder);
