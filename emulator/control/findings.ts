import { Refusal } from "../http/refusal.js";

/** As many as an error body may hold (sibling service, assumed). */
const mostFindings = 30;

/** What is wrong with a body, in the order in which it was found. */
export class Findings {
  readonly #found: { readonly path: string; readonly code: string; readonly rule: string }[] = [];
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

  /** @throws Refusal for the first finding, with all of them as details */
  assertNone(): void {
    const [first] = this.#found;
    if (!first) return;
    const details = this.#found.map(({ path, rule }) => ({ key: path, value: rule }));
    throw new Refusal(400, first.code, `${first.path}: ${first.rule}.`, details);
  }

  #add(path: string, code: string, rule: string): void {
    this.#hasBrokenShape ||= code !== "400-196";
    if (this.#found.length < mostFindings) this.#found.push({ path, code, rule });
  }
}
