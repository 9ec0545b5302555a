import type { Wait } from "../service/http/pace.js";

/** `1 min 15 s` */
export const durationText = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [
    hours && `${hours} h`,
    minutes && `${minutes} min`,
    hours ? 0 : seconds % 60 && `${seconds % 60} s`,
  ];
  return parts.filter(Boolean).join(" ") || "0 s";
};

/** `1 min 15 s left for POST /channels, 12 calls queued`: the number first, as rows are cut at their end. */
export const waitText = ({ method, template, queued, waitMs }: Wait): string =>
  `${durationText(waitMs)} left for ${method} ${template}, ${queued} ${queued === 1 ? "call" : "calls"} queued`;
