import * as pulumi from "@pulumi/pulumi";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import * as conversation from "../../sdk/index.js";
import { bound, formsOf } from "./forms.js";

/**
 * A program with every form of every kind, and every secret that a kind may hold. Under
 * PLUGIN=native the same resources are of a native plugin, each an alias of the dynamic one; BACK
 * makes the dynamic ones aliases of the plugin's, as the guide says. The kinds that DESCRIBED names
 * have DESCRIPTION.
 */
const native = process.env.PLUGIN === "native";
const described = (process.env.DESCRIBED ?? "").split(" ");

type ResourceClass = new (
  name: string,
  args: pulumi.Inputs,
  opts?: pulumi.CustomResourceOptions,
) => pulumi.CustomResource;

const declareDynamic = (
  kind: string,
  name: string,
  args: pulumi.Inputs,
  parent?: pulumi.Resource,
) => new (Reflect.get(conversation, kind) as ResourceClass)(name, args, parent ? { parent } : {});

class Native extends pulumi.CustomResource {
  constructor(kind: string, name: string, args: pulumi.Inputs, parent?: pulumi.Resource) {
    const aliases = [{ type: typeToken(kind) }];
    super(`conversation:index:${kind}`, name, args, parent ? { aliases, parent } : { aliases });
  }
}

if (process.env.BACK)
  pulumi.runtime.registerStackTransformation(({ type, props, opts }) => {
    const former = type.replace("pulumi-nodejs:dynamic/conversation:", "conversation:index:");
    return { props, opts: pulumi.mergeOptions(opts, { aliases: [{ type: former }] }) };
  });

/** As the guide says that the resources of a `ConversationAccount` move. */
const callbacks = new pulumi.ComponentResource(
  conversation.ConversationAccount.__pulumiType,
  "callbacks",
);

const declare = (kind: string, name: string, args: pulumi.Inputs, parent?: pulumi.Resource) =>
  native ? new Native(kind, name, args, parent) : declareDynamic(kind, name, args, parent);

const made = new Map<string, pulumi.CustomResource>();

for (const { definition, name, values } of setUpOrder(resources).flatMap(formsOf)) {
  const { kind } = definition;
  const description = described.includes(kind) ? { description: process.env.DESCRIPTION } : {};
  const args = { ...(bound(values, (other) => made.get(other)) as pulumi.Inputs), ...description };
  const resource = declare(kind, name, args, name.endsWith("-basic") ? callbacks : undefined);
  if (!made.has(kind)) made.set(kind, resource);
}
