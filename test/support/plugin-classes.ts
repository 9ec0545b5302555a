import * as pulumi from "@pulumi/pulumi";
import { type Definition, outputFields } from "../../provider/definition/define.js";
import { pluginToken, typeToken } from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";

/**
 * Classes of the plugin's resources under the names that the package gives its own, for programs
 * that are run through either door. They do what the classes that Pulumi generates from the schema
 * do; ALIASED makes each an alias of the dynamic resource.
 */
const classOf = ({ kind, fields }: Definition) => {
  const names = [...Object.keys(fields), ...Object.keys(outputFields)];
  const empty = Object.fromEntries(names.map((name) => [name, undefined]));
  return class extends pulumi.CustomResource {
    constructor(name: string, args: pulumi.Inputs = {}, opts: pulumi.CustomResourceOptions = {}) {
      const former = process.env.ALIASED ? [{ type: typeToken(kind) }] : [];
      super(
        pluginToken(kind),
        name,
        { ...empty, ...args },
        pulumi.mergeOptions(opts, { aliases: former }),
      );
    }

    static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions) {
      return new this(name, {}, { ...opts, id });
    }

    static find(where: pulumi.Inputs, opts?: pulumi.InvokeOptions) {
      return pulumi.runtime.invoke(`conversation:index:find${kind}`, where, opts);
    }
  };
};

export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: pulumi.Inputs, opts?: pulumi.ResourceOptions) {
    super("conversation", name, args, opts);
  }
}

Object.assign(
  exports,
  Object.fromEntries(resources.map((definition) => [definition.kind, classOf(definition)])),
);
