import { existsSync } from "node:fs";
import { proxySetting } from "../../provider/service/http/transport.js";
import { type DoctorCheck, fail, ok, warn } from "./check.js";

/** A proxy address without the credentials that it may carry. */
const shownProxy = (address: string): string =>
  URL.canParse(address) ? new URL(address).host : "an address that cannot be read";

/** Proxy settings that the service client follows. */
export const checkProxy = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const proxy = proxySetting(env)?.text;
  if (!proxy) return ok("proxy", "none: calls go straight to the service");
  const except = env.no_proxy || env.NO_PROXY;
  const message = `calls go through ${shownProxy(proxy)}${except ? `, except for ${except}` : ""}`;
  if (URL.canParse(proxy)) return ok("proxy", message);
  return fail(
    "proxy",
    message,
    "Set HTTPS_PROXY to an address such as http://proxy.example.com:8080.",
  );
};

/** Certificates that Node trusts beside its own, and whether it checks them at all. */
export const checkCertificates = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0")
    return warn(
      "certificates",
      "NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not checked, credentials can be stolen",
      "Unset it; trust a company's own authority with NODE_EXTRA_CA_CERTS=<file> instead.",
    );
  if (extra && !existsSync(extra))
    return fail(
      "certificates",
      `NODE_EXTRA_CA_CERTS names ${extra}, which does not exist`,
      "Correct the path.",
    );
  return ok("certificates", extra ? `Node's own and those of ${extra}` : "Node's own");
};
