import * as pulumi from "@pulumi/pulumi";

/** A resource as the engine gets it from a program. */
export interface Registered {
  readonly type: string;
  readonly name: string;
  readonly id?: string | undefined;
  readonly inputs: Record<string, unknown>;
}

/** Runs the test's program against an engine that says yes to everything; gives what it registers. */
export const startProgram = async (
  stack = "prod",
  preview = false,
): Promise<readonly Registered[]> => {
  const registered: Registered[] = [];
  // The one before ends first: what it still registers would come here.
  await pulumi.runtime.disconnect();
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        registered.push({ type, name, inputs, id });
        const made = type.endsWith(":Ownership") ? `shop/${stack}/1a2b` : `${name}-id`;
        return { id: made, state: inputs };
      },
      call: () => ({}),
    },
    "shop",
    stack,
    preview,
  );
  return registered;
};

/** What was sent of the resource with this logical name. */
export const inputsOf = (registered: readonly Registered[], name: string): Registered["inputs"] => {
  const found = registered.find((each) => each.name === name);
  if (!found) throw new Error(`nothing registered as ${name}`);
  return found.inputs;
};

/** The value of an output; never ends where it is unknown. */
export const valueIn = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((resolve) => {
    output.apply((value) => resolve(value));
  });
