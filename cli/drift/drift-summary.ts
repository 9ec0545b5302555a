import { withCount } from "../terminal/columns.js";
import type { DriftResult } from "./drift.js";

/** What was found, in one sentence. */
export const driftSummary = (result: DriftResult): string => {
  const { project, stack, changed, deleted, unmanaged, unread, compared } = result;
  const name = `${project}/${stack}`;
  const of = `${withCount(compared, "object")} of ${name} compared`;
  const found = [
    ...(changed.length > 0 ? [`${changed.length} changed outside`] : []),
    ...(deleted.length > 0 ? [`${deleted.length} deleted outside`] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} in no stack`] : []),
  ];
  const missing =
    unread.length > 0 ? `; ${withCount(unread.length, "kind")} could not be read` : "";
  return found.length === 0
    ? `No drift: ${of}${missing}.`
    : `Drift: ${found.join(", ")}; ${of}${missing}.`;
};
