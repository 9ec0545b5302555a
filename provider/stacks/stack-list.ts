import { isObject } from "../kernel/json.js";

/** A stack in the list of the backend. */
export interface ListedStack {
  readonly name: string;
  readonly current: boolean;
  /** Only Pulumi Cloud tells. */
  readonly updateInProgress?: boolean;
}

/** What `pulumi stack ls --json` printed; undefined where that is no list of stacks. */
export const stacksIn = (text: string): readonly ListedStack[] | undefined => {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).flatMap(({ name, current, updateInProgress }) => {
    const progress = typeof updateInProgress === "boolean" ? { updateInProgress } : {};
    return typeof name === "string" ? [{ name, current: current === true, ...progress }] : [];
  });
};

/** Whether a name of the list stands for the stack asked about: one may leave organisation and project out. */
export const mayBe = (name: string, asked: string): boolean =>
  name.endsWith(`/${asked}`) || asked.endsWith(`/${name}`);

/** Whether a stack of the list is surely the one asked about. */
export const isListedAs = ({ name, current }: ListedStack, asked: string | undefined): boolean =>
  asked === undefined ? current : name === asked;
