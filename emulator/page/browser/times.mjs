const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const whole = new Intl.NumberFormat("en");

/** A time in words; what is no time, as it came. @param {Intl.DateTimeFormat} format @param {string | number} time */
const timeText = (format, time) => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : format.format(date);
};

/** `09:30:05`, in the time zone of this machine. @param {string | number} time */
export const clockTime = (time) => timeText(clock, time);

/** Day and time as this machine writes them. @param {string | number} time */
export const dayTime = (time) => timeText(dayAndClock, time);

/** `12,345` @param {number} count */
export const countText = (count) => whole.format(count);

/** `1 call`, `2 calls` @param {number} count @param {string} noun */
export const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `12 of 10,000 calls`, or how many there are where all of them are meant. @param {number} some @param {number} all @param {string} noun */
export const shareText = (some, all, noun) =>
  some === all ? counted(all, noun) : `${countText(some)} of ${counted(all, noun)}`;
