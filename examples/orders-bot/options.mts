import { parseArgs } from "node:util";

/** The options of the command line. */
export interface Options {
  /** Longest wait for one message, in milliseconds. Default: 30 s. */
  readonly patienceMs: number;
  /** Port to listen on. Default: the port of the stack's `callbackUrl`. */
  readonly port: number | undefined;
}

const numberIn = (name: string, text: string, least: number, most: number): number => {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a number from ${least} to ${most}, not "${text}".`);
};

/** @throws Error that names the invalid option */
export const optionsIn = (args: string[]): Options => {
  const options = {
    patience: { type: "string", default: "30" },
    port: { type: "string" },
  } as const;
  const { patience, port } = parseArgs({ args, options }).values;
  return {
    patienceMs: Math.round(1000 * numberIn("patience", patience, 0.1, 600)),
    port: port === undefined ? undefined : numberIn("port", port, 1, 65_535),
  };
};
