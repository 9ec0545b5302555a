import { contentSchemas, type ReceivedMessage } from "pulumi-conversation/runtime";

const schema = contentSchemas["richMessage.listpicker"];

/** What a list picker asks, and the titles of what it offers. */
export interface Choice {
  readonly question: string;
  readonly titles: readonly string[];
}

/** The choice that a message holds; undefined if it is not a list picker. */
export const choiceIn = ({ type, content }: ReceivedMessage): Choice | undefined => {
  if (type !== "richMessage.listpicker") return undefined;
  const { title, list } = schema.parse(content);
  const titles = list.sections.flatMap(({ items }) => items.map((item) => item.title));
  return { question: title, titles };
};
