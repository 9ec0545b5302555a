import type { EmulatorClock } from "../../clock.js";

/** The emulator's clock with work that is due at a moment of it. */
export interface AlarmClock extends EmulatorClock {
  /**
   * Does the work when the clock shows this time or later: on the real clock by itself, on a manual
   * one when it is moved on; at once where the time has come already.
   *
   * @returns takes the alarm back
   */
  at(time: number, work: () => void): () => void;
}

interface Alarm {
  readonly time: number;
  readonly work: () => void;
}

/** Alarms on a clock. */
export const withAlarms = (clock: EmulatorClock): AlarmClock => {
  let alarms: Alarm[] = [];
  const drop = (alarm: Alarm): void => {
    alarms = alarms.filter((other) => other !== alarm);
  };
  const ring = (): void => {
    const due = alarms.filter(({ time }) => time <= clock.now());
    for (const alarm of due.sort((a, b) => a.time - b.time)) {
      drop(alarm);
      alarm.work();
    }
  };
  const onTimer = (time: number, work: () => void): (() => void) => {
    const timer = setTimeout(work, Math.max(0, time - clock.now())).unref();
    return () => clearTimeout(timer);
  };
  return {
    kind: clock.kind,
    now: clock.now,
    advance: (ms) => {
      clock.advance(ms);
      ring();
    },
    at: (time, work) => {
      if (clock.kind === "real" || time <= clock.now()) return onTimer(time, work);
      const alarm: Alarm = { time, work };
      alarms.push(alarm);
      return () => drop(alarm);
    },
  };
};
