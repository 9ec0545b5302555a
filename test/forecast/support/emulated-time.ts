import { Agent, request as httpRequest } from "node:http";
// The first call would load it, and no timer waits for a file.
import "p-retry";
import { onTestFinished } from "vitest";
import { VirtualTime } from "../../../bench/session.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import type { Emulator } from "../../../emulator/index.js";
import { pacedCalls } from "../../../provider/pacing/pacer.js";
import { connectService } from "../../../provider/service/connect.js";
import type { Plan } from "../../../provider/service/plans.js";
import { readSettings } from "../../../provider/service/settings.js";
import type { HttpRequest, HttpResponse, Transport } from "../../../provider/service/transport.js";

/**
 * The emulator's manual clock as the clock of its clients: goes on to the next timer by itself as
 * soon as no call is under way and nothing else is left to do.
 */
export class EmulatedTime extends VirtualTime {
  readonly #emulator: Emulator;
  /** Calls that were not refused, tokens left out. */
  accepted = 0;

  constructor(emulator: Emulator) {
    super();
    this.#emulator = emulator;
    this.onAdvance((ms) => emulator.advance(ms));
  }

  /** Settings and connection of a process that has just begun, so that its bucket is full. */
  connect(plan: Plan, burst: number | undefined) {
    const environment = { ...emulatorEnvironment(this.#emulator), CONVERSATION_PLAN: plan };
    const settings = readSettings({ environment, config: () => undefined });
    const limits = { plan, share: 1, ...(burst === undefined ? {} : { burst }) };
    const pace = pacedCalls({ clock: this, tenant: this.#emulator.baseUrl, ...limits });
    const transport = this.transport();
    return { settings, service: connectService(settings, { clock: this, pace, transport }) };
  }

  /** Calls over real sockets; time stands still while one is under way. */
  transport(): Transport {
    const agent = new Agent({ keepAlive: true });
    const send = (request: HttpRequest): Promise<HttpResponse> =>
      this.holding(async () => {
        const answer = await answerTo(request, agent);
        const counts = answer.status !== 429 && request.url !== this.#emulator.tokenUrl;
        this.accepted += counts ? 1 : 0;
        return answer;
      });
    return { send, close: async () => agent.destroy() };
  }

  /** Lets time pass until the work is done; gives the seconds that it took. */
  async seconds(work: Promise<unknown>): Promise<number> {
    const start = this.now();
    await this.during(work);
    return (this.now() - start) / 1000;
  }

  /** Takes over the process's timers, on which libraries wait, until the test is over. */
  override install(): () => void {
    const undo = super.install();
    // Of the test, not of this module: files that share a process share the module, but not its hooks.
    onTestFinished(undo);
    return undo;
  }
}

/** By Node's own client, whose timers are not those that the test takes over. */
const answerTo = ({ method, url, headers, body }: HttpRequest, agent: Agent) =>
  new Promise<HttpResponse>((resolve, reject) => {
    const call = httpRequest(url, { method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
      });
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    call.on("error", reject);
    call.end(body);
  });
