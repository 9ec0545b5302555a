const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const whole = new Intl.NumberFormat("en");

/** `09:30:05`, in the time zone of this machine. @param {string | number} time */
export const clockTime = (time) => clock.format(new Date(time));

/** Day and time as this machine writes them. @param {string | number} time */
export const dayTime = (time) => dayAndClock.format(new Date(time));

/** `12,345` @param {number} count */
export const countText = (count) => whole.format(count);

/** `1 call`, `2 calls` @param {number} count @param {string} noun */
export const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `12 of 10,000`, or how many there are where all of them are meant. @param {number} some @param {number} all */
export const shareText = (some, all) =>
  some === all ? countText(all) : `${countText(some)} of ${countText(all)}`;
