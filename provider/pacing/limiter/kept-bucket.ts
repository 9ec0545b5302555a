import { isObject } from "../../kernel/json.js";
import type { Kept } from "../stores/bucket-store.js";
import type { Bucket } from "./bucket.js";

const isPhase = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const { name, leftMs, factor } = value;
  if (name === "found") return isNumber(leftMs);
  if (name === "spaced") return isNumber(leftMs) && isNumber(factor);
  return name === "slow start" || name === "resting" || name === "probing";
};

const isProber = (value: unknown): boolean =>
  value === undefined || (isObject(value) && typeof value.id === "string" && isNumber(value.agoMs));

const isBucket = (value: Kept | undefined): value is Bucket => {
  if (!isObject(value)) return false;
  const { at, periodMs, tokens, spent, idle, burst, unprovedMs, phase, prober } = value;
  const numbers = [at, periodMs, tokens, spent, idle, burst, unprovedMs];
  return numbers.every(isNumber) && isPhase(phase) && isProber(prober);
};

/** What a store keeps, as a bucket; undefined for anything else: then it is found out again. */
export const bucketOf = (kept: Kept | undefined): Bucket | undefined =>
  isBucket(kept) ? kept : undefined;

/** Whether a value of JSON is a number; 1e999 is read as none. */
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
