import { readFileSync } from "node:fs";
import { hrtime } from "node:process";

/** Time that all processes of this machine share. */
export interface MachineTime {
  /** Monotonic milliseconds since the machine was started: setting the wall clock does not show. */
  now(): number;
  /** Names the start of the machine; times of different starts cannot be compared. */
  readonly start: string;
}

/** Coarse, since it must not change when the wall clock is set by some seconds. */
const roughMs = 600_000;

const startOfMachine = (now: number): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return `about ${Math.round((Date.now() - now) / roughMs)}`;
  }
};

/** The time of this machine. */
export const machineTime = (): MachineTime => {
  const now = (): number => Number(hrtime.bigint()) / 1e6;
  return { now, start: startOfMachine(now()) };
};
