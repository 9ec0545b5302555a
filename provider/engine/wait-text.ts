import type { Refused, Wait } from "../service/http/pace.js";

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
export const waitText = ({ method, template, queued, waitMs, refused }: Wait): string => {
  const calls = `${queued} ${queued === 1 ? "call" : "calls"} queued`;
  const asked = refused?.asks === undefined ? "" : `; the service asks for ${refused.asks}`;
  return `${durationText(waitMs)} left for ${method} ${template}, ${calls}${asked}`;
};

/** `GET /channels is refused for its rate (429). Trying again, for up to 59 min 48 s.` */
export const refusedText = ({ method, template }: Wait, { leftMs, asks }: Refused): string => {
  const why =
    asks === undefined
      ? ""
      : `, and the service asks to wait longer than is believed (Retry-After: ${asks})`;
  return `${method} ${template} is refused for its rate (429)${why}. Trying again, for up to ${durationText(leftMs)}.`;
};
