import { element, fill, labelled, shortText } from "../elements.mjs";
import { Composer } from "./composer.mjs";

/** @import { ConversationAddress } from "../../shown-conversations.js" */
/** @import { Page } from "../page.mjs" */

/** @param {ConversationAddress} address @param {number} place */
const addressOption = ({ name, address, channelType }, place) => {
  const where = `${shortText(address)} on ${channelType}`;
  return element("option", { value: place, dir: "auto" }, `${shortText(name) || where} (${where})`);
};

/** Where a new conversation begins: an account, a customer and the first message. */
export class StartForm {
  #account = element("select");
  #customer = element("input", {
    value: "Ada Example",
    required: true,
    maxlength: 255,
    autocomplete: "off",
  });
  #none = element(
    "p",
    { class: "empty" },
    "There is no account in use yet, on which a conversation could begin.",
  );
  /** @type {readonly ConversationAddress[] | undefined} */
  #offered = undefined;

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.composer = new Composer(page, {
      label: "Start a conversation",
      send: "Start",
      isStart: true,
      before: [labelled("On the account", this.#account), labelled("Customer", this.#customer)],
      customer: () => this.#customer.value,
      conversation: () => this.#conversation(),
    });
    const title = element("h2", {}, "Start a conversation");
    this.element = element("section", { class: "start" }, title, this.#none, this.composer.element);
  }

  #conversation() {
    const chosen = this.page.state.addresses[Number(this.#account.value)];
    return {
      account: {
        channel: { type: chosen?.channelType ?? "" },
        address: chosen?.address ?? "",
      },
      customer: { name: this.#customer.value },
    };
  }

  update() {
    const { addresses } = this.page.state;
    this.composer.update("");
    this.#none.hidden = addresses.length > 0;
    this.composer.element.hidden = addresses.length === 0;
    if (addresses === this.#offered) return;
    const before = this.#offered?.[Number(this.#account.value)];
    this.#offered = addresses;
    fill(this.#account, ...addresses.map(addressOption));
    // The same account as before, wherever it stands in the list now.
    const place = addresses.findIndex(
      ({ address, channelType }) =>
        address === before?.address && channelType === before.channelType,
    );
    this.#account.value = String(Math.max(0, place));
  }
}
