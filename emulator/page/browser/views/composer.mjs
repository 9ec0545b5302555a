import { choice, element, fill, labelled, optionOf, setText } from "../elements.mjs";
import { messageToSend } from "../message-text.mjs";
import { conversationOf, sendMessage } from "../server-calls.mjs";

/** @import { Json } from "../message-text.mjs" */
/** @import { Page } from "../page.mjs" */

/**
 * Sends a message as a sender that may send it.
 *
 * @param {Page} page
 * @param {object} options
 * @param {string} options.label of the form
 * @param {string} options.send label of its button
 * @param {() => Json} options.conversation that the message goes to
 * @param {() => string} options.customer name of the customer
 * @param {readonly HTMLElement[]} [options.before] further fields
 * @param {boolean} [options.isStart] only the customer starts a conversation here
 */
export const composer = (
  page,
  { label, send, conversation, customer, before = [], isStart = false },
) => {
  const senders = page.tables.senders.filter(({ type }) => !isStart || type === "customer");
  const sender = choice(senders.map(({ type }) => type));
  const type = choice([]);
  const name = element("input", { autocomplete: "off", maxlength: 255 });
  const text = element("textarea", { rows: 2 });
  const json = element("textarea", { rows: 4, spellcheck: "false", class: "code" });
  const said = element("p", { class: "said", role: "status" });
  const button = element("button", { type: "submit", class: "main" }, send);

  const offerTypes = () => {
    const before = type.value;
    const types = senders.find((each) => each.type === sender.value)?.messageTypes ?? [];
    fill(type, ...types.map(optionOf));
    type.value = types.includes(before) ? before : (types[0] ?? "");
  };

  const submit = async () => {
    setText(said, "");
    button.disabled = true;
    try {
      const isCustomer = sender.value === "customer";
      const message = messageToSend({
        sender: sender.value,
        type: type.value,
        name: name.value || (isCustomer ? customer() : ""),
        text: text.value,
        json: json.value,
        conversation: conversation(),
      });
      const answer = await sendMessage(message);
      text.value = "";
      json.value = "";
      if (isStart) page.go(`#conversations/${conversationOf(answer)}`);
      else text.focus();
    } catch (error) {
      setText(said, error instanceof Error ? error.message : String(error));
    }
    button.disabled = false;
    page.lookNow();
  };

  sender.addEventListener("input", offerTypes);
  offerTypes();
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const form = element(
    "form",
    {
      class: "composer",
      "aria-label": label,
      submit: (event) => {
        event.preventDefault();
        if (!button.disabled) void submit();
      },
    },
    element(
      "div",
      { class: "fields" },
      ...before,
      labelled("Sender", sender),
      labelled("Message type", type),
      labelled("Name of the sender", name),
    ),
    labelled("Text", text, "Enter sends, Shift and Enter begins a new line."),
    element(
      "div",
      { class: "send" },
      element(
        "details",
        {},
        element("summary", {}, "Further content"),
        labelled("Content as a JSON object", json),
      ),
      button,
    ),
    said,
  );
  return form;
};
