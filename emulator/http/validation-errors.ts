import { HttpError } from "./response.js";

/** As many as an error body may hold (sibling service, assumed). */
const mostErrors = 30;

/** A value that breaks a rule beyond its form, such as a reference to nothing (400-152, assumed). */
export const invalidAttribute = (path: string, rule: string): HttpError =>
  new HttpError(400, "400-152", `${path}: ${rule}.`, [{ key: path, value: rule }]);

/** What is wrong with a body, in the order in which it was found. */
export class ValidationErrors {
  readonly #errors: { readonly path: string; readonly code: string; readonly rule: string }[] = [];
  #hasBrokenShape = false;

  /** A required attribute is not there (400-143, public reference). */
  missing(path: string): void {
    this.#add(path, "400-143", "required attribute is missing");
  }

  /** A value breaks a rule (400-152, assumed). */
  invalid(path: string, rule: string): void {
    this.#add(path, "400-152", rule);
  }

  /** A value is not among those allowed (400-196, assumed). */
  notAllowed(path: string, values: readonly string[]): void {
    this.#add(path, "400-196", `must be one of ${values.join(", ")}`);
  }

  /** Whether anything was found but values that are not among those allowed. */
  get hasBrokenShape(): boolean {
    return this.#hasBrokenShape;
  }

  /** @throws HttpError for the first error, with all of them as details */
  assertNone(): void {
    const [first] = this.#errors;
    if (!first) return;
    const details = this.#errors.map(({ path, rule }) => ({ key: path, value: rule }));
    throw new HttpError(400, first.code, `${first.path}: ${first.rule}.`, details);
  }

  #add(path: string, code: string, rule: string): void {
    this.#hasBrokenShape ||= code !== "400-196";
    if (this.#errors.length < mostErrors) this.#errors.push({ path, code, rule });
  }
}
