import { HttpError } from "./response.js";

/** As many as an error body may hold (sibling service, assumed). */
const mostErrors = 30;

/** A value that breaks a rule beyond its form, such as a reference to nothing (400-152, assumed). */
export const invalidAttribute = (path: string, rule: string): HttpError =>
  new HttpError(400, "400-152", `${path}: ${rule}.`, [{ key: path, value: rule }]);

interface Found {
  readonly list: { readonly path: string; readonly code: string; readonly rule: string }[];
  hasBrokenShape: boolean;
}

/** What is wrong with a body, in the order in which it was found, seen from one place of the body. */
export class ValidationErrors {
  readonly #found: Found;

  constructor(
    readonly path = "",
    found: Found = { list: [], hasBrokenShape: false },
  ) {
    this.#found = found;
  }

  /** The same errors, seen from a member of this place. */
  at(member: string): ValidationErrors {
    return new ValidationErrors(this.path ? `${this.path}.${member}` : member, this.#found);
  }

  /** The same errors, seen from an item of the list at this place. */
  item(index: number): ValidationErrors {
    return new ValidationErrors(`${this.path}[${index}]`, this.#found);
  }

  /** A required attribute is not there (400-143, public reference). */
  missing(): void {
    this.#add("400-143", "required attribute is missing");
  }

  /** A value breaks a rule (400-152, assumed). */
  invalid(rule: string): void {
    this.#add("400-152", rule);
  }

  /** A value is not among those allowed (400-196, assumed). */
  notAllowed(values: readonly string[]): void {
    this.#add("400-196", `must be one of ${values.join(", ")}`);
  }

  /** Whether anything was found but values that are not among those allowed. */
  get hasBrokenShape(): boolean {
    return this.#found.hasBrokenShape;
  }

  /** @throws HttpError for the first error, with all of them as details */
  assertNone(): void {
    const { list } = this.#found;
    const [first] = list;
    if (!first) return;
    const details = list.map(({ path, rule }) => ({ key: path, value: rule }));
    throw new HttpError(400, first.code, `${first.path}: ${first.rule}.`, details);
  }

  #add(code: string, rule: string): void {
    const { list } = this.#found;
    this.#found.hasBrokenShape ||= code !== "400-196";
    if (list.length < mostErrors) list.push({ path: this.path, code, rule });
  }
}
