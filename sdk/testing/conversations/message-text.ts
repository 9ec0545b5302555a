import { abbreviated } from "../../../provider/kernel/quoted.js";
import type { Party, ReceivedMessage } from "../../runtime/messages/received-message.js";
import type { Reached, ReachedMessage } from "./reached.js";

/** `custom_bot "orders-bot"`, or the kind alone where there is no name. */
export const participantText = ({ kind, name }: Party): string =>
  name === undefined ? kind : `${kind} ${JSON.stringify(name)}`;

const longest = 120;

/** What a message says, in one line, whatever its type. */
export const saidText = ({ text, content, attachments }: ReceivedMessage): string => {
  const files = attachments.map(({ name, id }) => `+ ${name ?? id ?? "a file"}`);
  const said = text ?? (content === undefined ? undefined : JSON.stringify(content));
  return [
    said === undefined ? undefined : abbreviated(said.replaceAll("\n", " "), longest),
    ...files,
  ]
    .filter((each) => each !== undefined)
    .join(" ");
};

const reachedText = ({ recipient, isReached, why }: Reached): string => {
  const whom = `→ ${participantText(recipient)}`;
  if (isReached) return whom;
  if (isReached === undefined) return `${whom} (on its way${why === "" ? "" : `: ${why}`})`;
  return `${whom} (not reached: ${why})`;
};

/** A message as a line for people: who said what, and whom it reached. */
export const messageLine = ({ message, reached }: ReachedMessage): string => {
  const { sender, type } = message;
  const words = [participantText(sender), type, saidText(message), ...reached.map(reachedText)];
  return words.filter((word) => word !== "").join("  ");
};
