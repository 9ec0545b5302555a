import type { Definition } from "../definition/define.js";
import { objectTitle } from "../definition/references.js";
import { fieldsFromWire } from "../definition/wire.js";
import type { EngineSession } from "../engine/engine-session.js";
import { isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { brokenLink, type ChainFindings } from "./broken-link.js";

/** An object of the chain, its fields as a program gives them. */
export interface ChainObject {
  readonly definition: Definition;
  readonly id: string;
  /** `account "kiosk" (id 6f2a…)` */
  readonly label: string;
  readonly fields: JsonObject;
}

/** Who refers to an object, for messages: `orchestration "flow" (id …)`. */
type Referrer = Pick<ChainObject, "label">;

/** Reads objects of the chain one by one, each by its id. */
export class ChainReader {
  constructor(
    readonly session: EngineSession,
    readonly findings: ChainFindings,
  ) {}

  /**
   * An object that a message cannot do without.
   *
   * @throws ConversationError that names the link where it is missing or cannot be read
   */
  async needed(definition: Definition, id: string, by?: Referrer): Promise<ChainObject> {
    const found = await this.#read(definition, id, by);
    if ("object" in found) return found.object;
    throw brokenLink(definition.noun, found.unreadable.message, this.findings, found.unreadable);
  }

  /**
   * An object whose absence breaks the chain, while not being allowed to look at it proves nothing.
   *
   * @returns undefined where it may not be read
   */
  async wanted(definition: Definition, id: string, by: Referrer): Promise<ChainObject | undefined> {
    const found = await this.#read(definition, id, by);
    if ("object" in found) return found.object;
    if (!isConversationError(found.unreadable, "FORBIDDEN")) {
      const { message } = found.unreadable;
      throw brokenLink(definition.noun, message, this.findings, found.unreadable);
    }
    this.findings.doubts.push(`${definition.noun} ${id} may not be read with these credentials`);
    return undefined;
  }

  async #read(
    definition: Definition,
    id: string,
    by: Referrer | undefined,
  ): Promise<{ readonly object: ChainObject } | { readonly unreadable: Error }> {
    const { service, settings } = this.session;
    const wire = await service.read(definition, id).catch((error: unknown) => {
      if (isConversationError(error)) return error;
      throw error;
    });
    if (wire instanceof Error) return { unreadable: wire };
    if (!wire) throw this.#missing(definition, id, by);
    const fields = fieldsFromWire(definition.fields, wire, settings);
    const label = `${objectTitle(definition, fields)} (id ${id})`;
    this.findings.sound.push(label);
    if (fields.active === false) this.findings.doubts.push(`${label} is not active`);
    return { object: { definition, id, label, fields } };
  }

  #missing(definition: Definition, id: string, by: Referrer | undefined): Error {
    const { noun } = definition;
    const what = by
      ? `${by.label} refers to ${noun} ${id}, which does not exist`
      : `there is no ${noun} with the id ${id}`;
    const next =
      "Nothing was sent. Run `pulumi refresh`, then `pulumi up`: it makes again what was deleted at the service.";
    return brokenLink(definition.noun, `${what}. ${next}`, this.findings);
  }
}
