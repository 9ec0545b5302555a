import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ConversationError } from "../../provider/kernel/errors.js";
import { isLoopback } from "../../provider/service/addresses.js";

/** Networks that no signed URL of a public service leads to, with the prefixes that hide them. */
const special = {
  ipv4: `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.168.0.0/16 198.18.0.0/15 224.0.0.0/3`,
  ipv6: "::/96 64:ff9b::/32 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/9 ff00::/8",
} as const;

const listPrivateNetworks = (): BlockList => {
  const list = new BlockList();
  for (const family of ["ipv4", "ipv6"] as const) {
    for (const network of special[family].split(/\s+/)) {
      const [address = "", bits] = network.split("/");
      list.addSubnet(address, Number(bits), family);
    }
  }
  return list;
};

let networks: BlockList | undefined;

/** Whether an IP address belongs to a private, link-local, loopback, or otherwise special network. */
export const isPrivateAddress = (address: string): boolean => {
  networks ??= listPrivateNetworks();
  // Also for an IPv4 address inside an IPv6 one the list knows the IPv4 networks.
  return networks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
};

const findFault = (url: URL, mayBeLocal: boolean): string | undefined => {
  if (!/^https?:$/.test(url.protocol)) return "is not an HTTP or HTTPS URL";
  if (url.username !== "" || url.password !== "") return "contains a user name or password";
  if (mayBeLocal && isLoopback(url.hostname)) return undefined;
  if (url.protocol !== "https:") return "does not start with https://";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isPrivate = isLoopback(host) || (isIP(host) !== 0 && isPrivateAddress(host));
  return isPrivate ? "points to this machine or a private network" : undefined;
};

/**
 * Checks a signed URL from the service, so that no response can direct content or local data to an
 * unsafe destination. The URL is a secret, so messages do not show it.
 *
 * @param baseUrl of the service: if it runs on this machine, its signed URLs can lead here, too
 * @throws ConversationError `BAD_RESPONSE`
 */
export const checkSignedAddress = (text: string, baseUrl: string, what: string): URL => {
  const mayBeLocal = isLoopback(new URL(baseUrl).hostname);
  const fault = URL.canParse(text) ? findFault(new URL(text), mayBeLocal) : "is not a URL";
  if (fault === undefined) return new URL(text);
  throw new ConversationError(
    "BAD_RESPONSE",
    `Could not ${what}: the service's signed URL ${fault}. Nothing was transferred. Check that the base URL belongs to the service.`,
    { permanent: true },
  );
};

/** Code of the failure to connect to a name that leads to an address that is not allowed. */
export const privateAddressCode = "EPRIVATE";

/**
 * Resolves host names as usual and fails if any address is private, because a public name can
 * resolve to a private address. Connections use exactly the addresses that were checked.
 */
export const publicLookup =
  (lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 4);
      const [first] = addresses;
      // A signed URL may name this machine only if the service runs here.
      const isPrivate = addresses.some(({ address }) => isPrivateAddress(address));
      if (!first || (isPrivate && !isLoopback(hostname))) {
        const refusal = new Error("not a public address");
        return callback(Object.assign(refusal, { code: privateAddressCode }), "", 4);
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
