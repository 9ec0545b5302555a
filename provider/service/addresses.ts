// Which URLs this package calls. Public clients in a browser load it, too.

/** The names of this machine that NO_PROXY can list: with any other one, a proxy could get the call. */
export const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "::1"];

/** Whether a host name is one of this machine's. */
export const isLoopback = (host: string): boolean =>
  loopbackHosts.includes(host.replace(/^\[(.*)\]$/, "$1"));

/** Whether a URL leads to this machine. */
export const isLocal = (address: string): boolean =>
  URL.canParse(address) && isLoopback(new URL(address).hostname);

/**
 * The result of parsing a setting: its value, or the rule that the string breaks. A message shows
 * the string itself only if the setting has a fixed set of words, because such a setting is never
 * secret.
 */
export type Parsed<T> = { readonly value: T } | { readonly rule: string };

export const value = <T>(parsed: T): Parsed<T> => ({ value: parsed });

export const broken = (rule: string): Parsed<never> => ({ rule });

/** Why a URL cannot be called; undefined if it can. */
export const addressRule = (url: URL | null): string | undefined => {
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "must be a URL that starts with https://";
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must start with https://; http:// is allowed only for this machine (localhost, 127.0.0.1, [::1])";
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return 'must not contain "#"';
  return undefined;
};

/** A URL that may be called, in its usual form. */
export const tokenAddress = (text: string): Parsed<string> => {
  const url = URL.parse(text);
  const rule = addressRule(url);
  return !url || rule ? broken(rule ?? "must be a URL") : value(url.href);
};
