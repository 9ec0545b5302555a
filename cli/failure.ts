/**
 * Something that the person at the terminal can act on. Its message stands alone and is shown
 * without a stack trace; the exit code is 1, or 2 where the command line itself was wrong.
 */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    message: string,
    readonly exitCode: number = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a failure says, whatever was thrown: errors of the service too carry a message that stands alone. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
