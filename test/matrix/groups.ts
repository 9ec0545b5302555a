import { answers } from "./rows/answers.js";
import { connections } from "./rows/connections.js";
import { hooks } from "./rows/hooks.js";
import { inputs } from "./rows/inputs.js";
import { interruptions } from "./rows/interruptions.js";
import { lists } from "./rows/lists.js";
import { neighbours } from "./rows/neighbours.js";
import { rateLimits } from "./rows/rate-limits.js";
import { refusals } from "./rows/refusals.js";
import { serviceFailures } from "./rows/service-failures.js";
import { slow } from "./rows/slow.js";
import { storms } from "./rows/storms.js";
import type { Group } from "./support/cell.js";

/** The whole matrix. */
export const groups: readonly Group[] = [
  rateLimits,
  connections,
  serviceFailures,
  answers,
  slow,
  refusals,
  lists,
  neighbours,
  interruptions,
  hooks,
  inputs,
  storms,
];
