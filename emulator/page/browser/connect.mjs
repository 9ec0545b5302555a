import { copyButton, element, group, paragraph, setText, statusLine } from "./elements.mjs";
import { causeText, fetchToken, readOwnClient, servicePaths } from "./page.mjs";

/** @import { Page } from "./page.mjs" */

/** @typedef {{ readonly baseUrl: string, readonly tokenUrl: string, readonly clientId: string, readonly clientSecret: string }} Access */

const hidden = "********";

/** What a program needs to reach this emulator, by the address that the page was opened with. @returns {Promise<Access>} */
const accessHere = async () => {
  const { clientId, clientSecret } = await readOwnClient();
  const { origin } = location;
  const { base, token } = servicePaths;
  return { baseUrl: origin + base, tokenUrl: origin + token, clientId, clientSecret };
};

/** The lines that set a program's environment, as the `emulator` command prints them. @param {Access} access @param {string} [plan] if omitted, there are no rate limits */
export const environmentText = (access, plan) =>
  Object.entries({ ...access, ...(plan === undefined ? {} : { plan }) })
    .map(([key, value]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
      return `export CONVERSATION_${name}=${value}`;
    })
    .join("\n");

/** @param {string} label @param {HTMLElement} shown @param {HTMLElement} button */
const copied = (label, shown, button) =>
  group("copied", element("span", { class: "quiet" }, label), shown, button);

/** A command with a button that copies it. @param {string} label @param {string} command @param {HTMLElement} said */
const commandLine = (label, command, said) =>
  element(
    "li",
    {},
    copied(
      label,
      element("code", {}, command),
      copyButton(command, () => command, said),
    ),
  );

/** The steps from an empty emulator to its first objects, as commands to copy. @param {Page} page */
export const connectionSteps = (page) => {
  const said = statusLine();
  const lines = element("pre", { tabindex: 0, "aria-label": "Environment for the program" }, "…");
  const text = (/** @type {Access} */ access) => {
    const { plan = "none" } = page.state.latest ?? {};
    return environmentText(access, plan === "none" ? undefined : plan);
  };
  accessHere().then(
    (access) => setText(lines, text({ ...access, clientSecret: hidden })),
    (error) => setText(said, causeText(error)),
  );
  const copyLines = copyButton("the environment", () => accessHere().then(text), said);
  return element(
    "section",
    { class: "card steps" },
    element("h2", {}, "Apply a program to this emulator"),
    element(
      "ol",
      {},
      commandLine(
        "If you have no program yet, create one, and then run the commands under Next, stopping before npm test",
        "npx pulumi-conversation init shop --emulator --yes",
        said,
      ),
      element("li", {}, copied("Point the program at this emulator", lines, copyLines)),
      commandLine("Check the settings", "npx pulumi-conversation doctor", said),
      commandLine("Apply it", "pulumi up", said),
    ),
    said,
  );
};

/** URLs and credentials to copy, and the first commands. @param {Page} page */
export const connectView = (page) => {
  const said = statusLine();
  const list = element("ul", { class: "plain" });
  accessHere().then(
    ({ baseUrl, tokenUrl, clientId, clientSecret }) => {
      /** @type {readonly (readonly [label: string, shown: string, text: () => string | Promise<string>])[]} */
      const settings = [
        ["Base URL", baseUrl, () => baseUrl],
        ["Token URL", tokenUrl, () => tokenUrl],
        ["Client ID", clientId, () => clientId],
        ["Client secret", hidden, () => clientSecret],
        ["Token", "a new one each time you copy it", fetchToken],
      ];
      list.append(
        ...settings.map(([label, shown, text]) => {
          const what = label.charAt(0).toLowerCase() + label.slice(1);
          const button = copyButton(what, text, said);
          return element("li", {}, copied(label, element("code", {}, shown), button));
        }),
      );
    },
    (error) => setText(said, causeText(error)),
  );
  const settings = element(
    "section",
    { class: "card" },
    element("h2", {}, "Settings"),
    paragraph("hint", "Send a token with each call, as Authorization: Bearer …"),
    list,
    said,
  );
  return { element: group("sheet two", settings, connectionSteps(page)), update: () => {} };
};
