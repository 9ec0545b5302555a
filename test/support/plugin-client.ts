import { type PluginServer, servePlugin } from "../../provider/plugin/server.js";
import { EngineClient } from "./engine-client.js";

/** The plugin on a real socket, called as the engine calls it. */
export class PluginClient extends EngineClient implements AsyncDisposable {
  private constructor(private readonly server: PluginServer) {
    super(server.port);
  }

  static async open(): Promise<PluginClient> {
    return new PluginClient(await servePlugin());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    this.server.close();
  }
}
