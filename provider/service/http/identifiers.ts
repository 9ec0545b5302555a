import { isId, longestId } from "../../definition/object-id.js";
import { ConversationError } from "../../kernel/errors.js";
import { quoted } from "../redaction/quoted.js";

/**
 * Refuses an id that could name another path, such as `..` or the empty text, before any address is
 * built from it.
 *
 * @param what what the id belongs to, such as `channel`, for the message
 * @throws ConversationError `ID_INVALID`
 */
export const assertId = (id: string, what: string): void => {
  if (isId(id)) return;
  const text = typeof id === "string" ? quoted(id) : `a value of type ${typeof id}`;
  throw new ConversationError(
    "ID_INVALID",
    `${text} cannot be the id of ${what}: ids are 1 to ${longestId} letters, digits, "_" and "-", and start with a letter or digit. Nothing was sent. Check the id in the program, the import or the stack's state.`,
  );
};

const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1);

/**
 * The path of an operation below the base address: `/channels/{id}` and an id give `/channels/4f…`.
 *
 * @throws ConversationError `ID_INVALID` where the id is not allowed, is missing or is not wanted
 */
export const pathOf = (template: string, id?: string): string => {
  const wanted = template.includes("{id}");
  if (!wanted && id !== undefined) {
    throw new ConversationError("ID_INVALID", `${template} takes no id. Nothing was sent.`);
  }
  if (wanted) assertId(id ?? "", `an object under ${template}`);
  const path = template.replace("{id}", encodeURIComponent(id ?? ""));
  assertShape(template, path);
  return path;
};

/** The second line of defence: what the address parser makes of the path must still fit the template. */
const assertShape = (template: string, path: string): void => {
  const seen = segmentsOf(new URL(path, "http://service.invalid").pathname);
  if (seen.length === segmentsOf(template).length && seen.every((segment) => segment !== ""))
    return;
  throw new ConversationError(
    "ID_INVALID",
    `The path built for ${template} does not have its shape. Nothing was sent.`,
  );
};
