import { parseArgs } from "node:util";

/** What the command line says. */
export interface Options {
  /** Longest wait for one message, in milliseconds. Default: 30 s. */
  readonly patienceMs: number;
  /** Where to listen on this machine. Default: where the stack's `callbackUrl` says. */
  readonly port: number | undefined;
}

const numberIn = (name: string, text: string, least: number, most: number): number => {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a number from ${least} to ${most}, not "${text}".`);
};

/** @throws Error that names the option that cannot be used */
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
