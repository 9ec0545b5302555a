import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { isLoopback } from "../../../provider/service/settings/setting-rules.js";

/** Networks that no signed address of a public service leads to, with the prefixes that hide them. */
const special = {
  ipv4: `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.168.0.0/16 198.18.0.0/15 224.0.0.0/3`,
  ipv6: "::/96 64:ff9b::/32 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/9 ff00::/8",
} as const;

const privateNetworks = (): BlockList => {
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

/** Whether an IP address belongs to a private, link-local, loopback or otherwise special network. */
export const isPrivateAddress = (address: string): boolean => {
  networks ??= privateNetworks();
  // Also for an IPv4 address inside an IPv6 one the list knows the IPv4 networks.
  return networks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
};

/** Where signed addresses may lead. */
export interface AddressRule {
  /** The service itself runs on this machine, so its addresses may too. */
  readonly loopback: boolean;
}

/** The rule that follows from the base address of the service. */
export const addressRuleFor = (baseUrl: string): AddressRule => ({
  loopback: isLoopback(new URL(baseUrl).hostname),
});

const plainHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

const refusedBy = (url: URL, { loopback }: AddressRule): string | undefined => {
  if (loopback && isLoopback(url.hostname)) return undefined;
  if (url.protocol !== "https:") return "does not start with https://";
  const host = plainHost(url);
  const isPrivate = isLoopback(host) || (isIP(host) !== 0 && isPrivateAddress(host));
  return isPrivate ? "leads to this machine or a private network" : undefined;
};

/**
 * Checks an address that the service gave for content: no content and nothing of the local network
 * must go anywhere because of what an answer says. The address is a secret: messages show the host.
 *
 * @throws ConversationError `BAD_RESPONSE`
 */
export const checkedAddress = (text: unknown, rule: AddressRule, what: string): URL => {
  const bad = (why: string) =>
    new ConversationError(
      "BAD_RESPONSE",
      `Could not ${what}: the address that the service gave for the content ${why}. Nothing was transferred. Check that the base address is the service's own.`,
      { permanent: true },
    );
  if (typeof text !== "string" || !URL.canParse(text)) throw bad("is missing or is no address");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw bad("is no web address");
  if (url.username !== "" || url.password !== "") throw bad("holds a user name or password");
  const why = refusedBy(url, rule);
  if (why) throw bad(`(host ${url.host}) ${why}`);
  return url;
};

/** Marks a name that led to an address that is not allowed. */
export class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";
  readonly code = "EPRIVATE";
}

/**
 * Looks names up as usual and fails where any of the addresses is private: a public name may lead
 * there too. Connections are made to the very addresses that were checked.
 */
export const publicLookup =
  (lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 4);
      const [first] = addresses;
      if (!first || addresses.some(({ address }) => isPrivateAddress(address))) {
        return callback(new PrivateAddressError("not a public address"), "", 4);
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
