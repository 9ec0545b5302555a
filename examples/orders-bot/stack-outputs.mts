const names = ["address", "channel", "callbackUrl", "callbackPassword"] as const;

/** What the Pulumi program of this folder exports. */
export type StackOutputs = Readonly<Record<(typeof names)[number], string>>;

const howToSet =
  'Set it in the folder of the example: export ORDERS_BOT_STACK="$(pulumi stack output --json --show-secrets)"';

const parsed = (text: string): ReadonlyMap<string, unknown> => {
  try {
    return new Map(Object.entries(Object(JSON.parse(text))));
  } catch {
    throw new Error(`ORDERS_BOT_STACK does not hold JSON. ${howToSet}`);
  }
};

/**
 * The outputs of the stack, as `pulumi stack output --json --show-secrets` prints them.
 *
 * @throws Error that names what is missing, without values
 */
export const stackOutputs = (text: string | undefined): StackOutputs => {
  if (!text) throw new Error(`ORDERS_BOT_STACK is not set. ${howToSet}`);
  const outputs = parsed(text);
  const value = (name: keyof StackOutputs): string => {
    const output = outputs.get(name);
    if (typeof output === "string" && output !== "") return output;
    throw new Error(`ORDERS_BOT_STACK holds no ${name}: run pulumi up first. ${howToSet}`);
  };
  return {
    address: value("address"),
    channel: value("channel"),
    callbackUrl: value("callbackUrl"),
    callbackPassword: value("callbackPassword"),
  };
};
