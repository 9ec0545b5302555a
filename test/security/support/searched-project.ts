import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { setUpOrder } from "../../../provider/definition/kinds.js";
import { resources } from "../../../provider/resources/index.js";
import { Wire } from "../../matrix/support/wire.js";
import { type CliProject, type CliResult, cliProject } from "../../support/cli-project.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { formsOf, marker } from "../../support/forms.js";
import { leakingFiles, secretsIn } from "../../support/left-behind.js";

const clientId = "hushed";
const scopes = ["app.conversation.conversationmgr.manage"];

/** What the emulator says about what happened; its snapshot promises everything, secrets included. */
const reports = ["/log", "/stats", "/faults", "/deliveries", "/switches"];

/**
 * A Pulumi project with a canary in every secret field, a client secret in the stack's configuration,
 * an emulator, and a wire that sees every token.
 */
export class SearchedProject implements AsyncDisposable {
  #printed = "";

  private constructor(
    readonly emulator: Emulator,
    readonly wire: Wire,
    readonly project: CliProject,
    /** What must never show. */
    readonly secrets: readonly string[],
  ) {}

  static async open(
    clientSecret: string,
    settings: Readonly<Record<string, string>> = {},
    otherSecrets: readonly string[] = [],
    more = "",
  ): Promise<SearchedProject> {
    const emulator = await startEmulator();
    const wire = await Wire.open();
    wire.leadTo(emulator.baseUrl);
    const through = (url: string): string => wire.origin + new URL(url).pathname;
    const [baseUrl, tokenUrl] = [through(emulator.baseUrl), through(emulator.tokenUrl)];
    const { CONVERSATION_CLIENT_SECRET: _, ...environment } = emulatorEnvironment({
      baseUrl,
      tokenUrl,
      clientId,
      clientSecret,
    });
    const all = { ...environment, CONVERSATION_BURST: "100", ...settings };
    const project = await cliProject(declaredProgram + more, all, { ownCache: true });
    const secrets = [marker, clientSecret, ...otherSecrets];
    const searched = new SearchedProject(emulator, wire, project, secrets);
    await searched.setClientSecret(clientSecret);
    await searched.pulumi(["config", "set", "--secret", "conversation:clientSecret", clientSecret]);
    return searched;
  }

  /** What the service takes for the client's secret from now on. */
  async setClientSecret(clientSecret: string): Promise<void> {
    await this.control("POST", "/clients", { clientId, clientSecret, scopes });
  }

  async control(method: string, path: string, body?: unknown): Promise<string> {
    return JSON.stringify(await new EmulatorControl(this.emulator).control(method, path, body));
  }

  /** Runs the command line; another word is another value of every secret. */
  async pulumi(
    args: readonly string[],
    word = "",
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CliResult> {
    const result = await this.project.pulumi(args, { ...formsEnvironment(word), ...environment });
    this.#printed += result.output;
    return result;
  }

  /** Runs a command of this package. */
  async command(args: readonly string[], word: string): ReturnType<CliProject["tool"]> {
    const result = await this.project.tool(args, formsEnvironment(word));
    this.#printed += result.output + result.errors;
    return result;
  }

  /** The same where it must succeed. */
  async succeed(...given: Parameters<SearchedProject["pulumi"]>): Promise<void> {
    const { code, output } = await this.pulumi(...given);
    if (code !== 0) throw new Error(output);
  }

  /** Every token that was sent to the service. */
  tokens(): readonly string[] {
    return [...this.wire.authorizations].flatMap((header) => header.split(" ")[1] ?? []);
  }

  /** Every place that shows a secret: the output, a file, a report of the emulator. */
  async leaks(): Promise<readonly string[]> {
    const secrets = [...this.secrets, ...this.tokens()];
    const shows = (text: string): boolean => secretsIn(text, secrets).length > 0;
    const reported = await Promise.all(reports.map((path) => this.control("GET", path)));
    return [
      ...(shows(this.#printed) ? ["output"] : []),
      ...leakingFiles(this.project.folder, secrets),
      ...reports.filter((_, place) => shows(reported[place] ?? "")),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.project.remove();
    await this.wire[Symbol.asyncDispose]();
    await this.emulator.close();
  }
}

/** A Pulumi program that declares every kind in every form; FORMS holds them, and their canaries. */
const declaredProgram = `
const conversation = require("pulumi-conversation");
const made = {};
const bound = (value) => {
  if (Array.isArray(value)) return value.map(bound);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, bound(of)]));
  const [, kind] = /^\\$\\{(\\w+)\\}$/.exec(value) ?? [];
  return kind ? made[kind].id : value;
};
for (const { kind, name, values } of JSON.parse(process.env.FORMS)) {
  const resource = new conversation[kind](name, bound(values));
  made[kind] = made[kind] ?? resource;
}
`;

/** The environment of that program, which may read `WORD` and `HUSHED`; another word is another value of every secret. */
const formsEnvironment = (word: string): Readonly<Record<string, string>> => {
  const forms = setUpOrder(resources)
    .flatMap(formsOf)
    .map(({ definition, name, values }) => ({ kind: definition.kind, name, values }));
  const FORMS = JSON.stringify(forms).replaceAll(`"${marker} `, `"${marker} ${word} `);
  return { FORMS, WORD: word, HUSHED: `${marker} ${word} environment` };
};
