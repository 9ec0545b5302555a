import type { Basis } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";
import { messageTypesOf, senderTypes } from "../runtime/messages.js";
import { faultKinds } from "../service/faults.js";
import type { EmulatedService } from "../service/service.js";
import { type Switch, switchTable, vendorWord } from "../service/switches.js";

/** What the page's forms offer, with what is said of each choice: from the tables that the emulator obeys. */
export interface FormTables {
  /** In set-up order. */
  readonly kinds: readonly {
    readonly collection: string;
    readonly noun: string;
    readonly doc: string;
  }[];
  readonly endpoints: readonly string[];
  readonly faults: readonly {
    readonly kind: string;
    readonly doc: string;
    readonly isForLists: boolean;
    readonly members: readonly {
      readonly name: string;
      readonly rule: string;
      readonly isRequired: boolean;
    }[];
  }[];
  readonly switches: readonly {
    readonly name: string;
    readonly doc: string;
    readonly values: Switch["values"];
    readonly default: Switch["default"];
    readonly basis: Basis;
  }[];
  /** The words on the wire of who may send, each with the message types that it may send. */
  readonly senders: readonly { readonly type: string; readonly messageTypes: readonly string[] }[];
}

const faultTable = (): FormTables["faults"] =>
  Object.entries(faultKinds).map(([kind, shape]) => ({
    kind,
    doc: shape.doc,
    isForLists: "listsOnly" in shape,
    members: Object.entries(shape.members).map(([name, member]) => ({
      name,
      rule: member.rule,
      isRequired: "required" in member,
    })),
  }));

/** @param endpoints where faults can be */
export const formTables = (
  { switches }: Pick<EmulatedService, "switches">,
  endpoints: readonly string[],
): FormTables => ({
  kinds: resources.map(({ collection, noun, doc }) => ({ collection, noun, doc })),
  endpoints,
  faults: faultTable(),
  switches: Object.entries(switchTable).map(([name, { doc, values, default: usual, basis }]) => ({
    name,
    doc,
    values,
    default: usual,
    basis,
  })),
  senders: senderTypes.map((sender) => ({
    type: vendorWord(sender, switches),
    messageTypes: messageTypesOf(sender),
  })),
});
