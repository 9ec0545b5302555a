import { messageBodies, type ReceivedMessage } from "pulumi-conversation/runtime";

const schema = messageBodies["richMessage.listpicker"];

/** What a list picker asks, and the titles of what it offers. */
export interface Choice {
  readonly question: string;
  readonly titles: readonly string[];
}

/** The choice that a message holds; undefined if it is not a list picker. */
export const choiceIn = ({ type, content }: ReceivedMessage): Choice | undefined => {
  if (type !== "richMessage.listpicker") return undefined;
  // The service adds this member; programs leave it out.
  const { type: _list, ...picker } = content ?? {};
  const { title, list } = schema.parse({ content: picker }).content;
  const titles = list.sections.flatMap(({ items }) => items.map((item) => item.title));
  return { question: title, titles };
};
