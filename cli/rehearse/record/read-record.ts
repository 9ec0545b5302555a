import { readFileSync, statSync } from "node:fs";
import { isObject, jsonIn } from "../../../provider/kernel/json.js";
import { CommandFailure, messageOf } from "../../command.js";
import { type ChangeRecord, changeRecordSchema } from "./change-record.js";

/** No record comes near: that of an account with 10,000 objects has some ten million bytes. */
const mostBytes = 256 * 1024 * 1024;

const advice = "Make one with: npx pulumi-conversation rehearse --record <file>";

const textOf = (file: string): string => {
  try {
    if (statSync(file).size > mostBytes) return "";
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFailure(`The record could not be read: ${messageOf(error)}. ${advice}`, 2);
  }
};

const textOrSpace = /("(?:[^"\\]|\\.)*")|\s+/g;

/**
 * Whether a text says a value in the way in which it was written, but for the space between: a member that
 * stands there twice is read as one, and by every reader as another one.
 */
const isSaidOnce = (text: string, value: unknown): boolean =>
  text.replaceAll(textOrSpace, "$1") === JSON.stringify(value);

/**
 * Reads a change record.
 *
 * @throws CommandFailure where the file cannot be read, or is none
 */
export const readRecord = (file: string): ChangeRecord => {
  const text = textOf(file);
  const json = jsonIn(text);
  const record = changeRecordSchema.safeParse(json).data;
  if (record && isSaidOnce(text, json)) return record;
  const isOther = isObject(json) && json.format === changeRecordSchema.shape.format.value;
  const what = isOther
    ? "is a change record of another release, or was changed by hand."
    : "is no change record.";
  throw new CommandFailure(`${file} ${what} ${advice}`, 2);
};
