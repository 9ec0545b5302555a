import type { Conversation, ReceivedMessage } from "pulumi-conversation/runtime";
import { choiceIn } from "./list-picker.mts";

type Row = readonly [who: string, type: string, said: string];

const structured = (message: ReceivedMessage): string | undefined => {
  const choice = choiceIn(message);
  if (choice) return [choice.question, ...choice.titles].join(" · ");
  return message.text === undefined && message.content
    ? JSON.stringify(message.content)
    : undefined;
};

/** What a message says, in one line, whatever its type. */
const said = (message: ReceivedMessage): string => {
  const files = message.attachments.map(({ name, size }) => `+ ${name} (${size} bytes)`);
  return [message.text, structured(message), ...files].filter(Boolean).join(" ");
};

const rowOf = (message: ReceivedMessage): Row => {
  const { kind, name } = message.sender;
  return [name === undefined ? kind : `${name} (${kind})`, message.type, said(message)];
};

/** Lines for people keep to this many columns, so that they fit a narrow terminal even when indented. */
const COLUMNS = 78;

/** Wraps text to lines of at most `columns` characters. */
const folded = (text: string, columns: number): readonly string[] => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
};

/** A conversation as lines for people: sender, type and content of each message, in order. */
export const transcript = ({ messages }: Conversation): readonly string[] => {
  const rows = messages.map(rowOf);
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const indent = " ".repeat(width(0) + width(1) + 4);
  return rows.flatMap(([who, type, text]) => {
    const [first = "", ...rest] = folded(text, COLUMNS - indent.length);
    const line = `${who.padEnd(width(0))}  ${type.padEnd(width(1))}  ${first}`.trimEnd();
    return [line, ...rest.map((more) => indent + more)];
  });
};
