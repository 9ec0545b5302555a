export interface ListenAddress {
  readonly port: number;
  /** Default: every address of this machine. */
  readonly host?: string;
}

/** Why a server cannot listen, and which part of the address to change. */
export interface ListenFailure {
  /** What is wrong and what to do, without a full stop at the end. */
  readonly text: string;
  readonly change: keyof ListenAddress;
}

const failures: Readonly<Record<string, (address: ListenAddress) => ListenFailure>> = {
  EADDRINUSE: ({ port, host = "this machine" }) => ({
    text: `port ${port} is in use on ${host}. Stop the process that uses it, or choose another port`,
    change: "port",
  }),
  EACCES: ({ port }) => ({
    text: `port ${port} is not permitted. Choose one above 1023`,
    change: "port",
  }),
  EADDRNOTAVAIL: ({ host }) => ({
    text: `this machine does not have the address ${host}. Choose another`,
    change: "host",
  }),
  ENOTFOUND: ({ host }) => ({
    text: `the name ${host} does not resolve. Choose another`,
    change: "host",
  }),
};

/** Explains why a server could not listen; undefined for errors that are not about the address. */
export const listenFailure = (error: unknown, address: ListenAddress): ListenFailure | undefined =>
  error instanceof Error && "code" in error ? failures[String(error.code)]?.(address) : undefined;
