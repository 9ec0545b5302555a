/** A stream that may be a terminal. */
export interface MaybeTerminal {
  readonly isTTY?: boolean;
}

/**
 * Whether a stream wants colours: a terminal does, unless NO_COLOR is set (no-color.org) or it is a
 * dumb one; FORCE_COLOR asks for them everywhere, and FORCE_COLOR=0 nowhere.
 */
export const wantsColour = (
  { isTTY }: MaybeTerminal,
  { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv = process.env,
): boolean => {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "")
    return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTTY === true && TERM !== "dumb";
};
