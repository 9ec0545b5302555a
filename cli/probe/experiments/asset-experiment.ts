import { textAt } from "../../../provider/kernel/json.js";
import { channel } from "../../../provider/resources/channel.js";
import { runtimeOperations } from "../../../provider/service/http/operations.js";
import { listIn } from "../list-answer.js";
import { type Experiment, isAccepted, stillOpen, unexpected } from "./experiment.js";

const { createAsset } = runtimeOperations;

/**
 * How long a signed address lives. No list shows assets: one whose creation is not answered cannot be
 * found and removed again, so this is asked only on request.
 */
export const assetExperiment: Experiment = {
  asks: "how long a signed address lives",
  names: ["assetUrlLifetime"],
  mostCalls: 4,
  run: async ({ client }) => {
    const list = await client.call("GET", `/${channel.collection}`);
    const [first] = listIn(list, channel.listKey).items;
    const type = textAt(first, "type");
    if (type === undefined) return { assetUrlLifetime: stillOpen("the tenant has no channel") };
    const body = { channel: { type }, sender: { type: "customer" }, name: "probe.txt", size: 1 };
    const made = await client.call("POST", createAsset.template, { body });
    const id = textAt(made.body, "id");
    if (!isAccepted(made) || id === undefined) return { assetUrlLifetime: unexpected(made) };
    await client.call("DELETE", `${createAsset.template}/${encodeURIComponent(id)}`);
    const expiry = Date.parse(textAt(made.body, "contentUrlExpiry") ?? "");
    const date = Date.parse(made.header("date") ?? "");
    // The header tells whole seconds only, cut off.
    const seconds = Math.floor((expiry - date) / 1000);
    return {
      assetUrlLifetime: Number.isFinite(seconds) ? seconds : stillOpen("its answer does not tell"),
    };
  },
};
