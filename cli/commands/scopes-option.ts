import { Option } from "commander";

/** `--as-scopes`: what the client may do that will deploy, where another one rehearses. */
export const scopesOption = (): Option =>
  new Option(
    "--as-scopes <scopes>",
    "Scopes of the client that will deploy, such as manage (default: those of the client in use, or all where it may only read).",
  );

/**
 * The scopes that a person names.
 *
 * @throws CommandFailure where the service has no such scope
 */
export const scopesNamed = async (
  text: string | undefined,
): Promise<{ readonly asScopes?: readonly string[] }> => {
  if (text === undefined) return {};
  const { parseScopes } = await import("../rehearse/service/deploying-client.js");
  return { asScopes: parseScopes(text) };
};
