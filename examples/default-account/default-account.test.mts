/**
 * The account of this folder, with the Node.js test runner: node --test default-account.test.mts
 *
 * The project file is in the root of the repository; a project of your own is in the folder itself.
 */
import { deepEqual, match } from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { stackHooks } from "pulumi-conversation/testing";

const account = stackHooks(
  { before, after },
  { program: fileURLToPath(new URL("../..", import.meta.url)) },
);

const kiosk = { channel: "custom.kiosk", address: "kiosk-berlin-01" };

test("one bot answers on the kiosk in Berlin", async () => {
  const bots = await account().objects("Participant");
  deepEqual(
    bots.map(({ type }) => type),
    ["custom_bot"],
  );
  await account().expectObject("Account", { address: kiosk.address });
});

test("the bot gets the message of the customer, with a token of its own system", async () => {
  const ada = account().conversation(kiosk);
  await ada.say("Where is my order?");
  await account().expectDelivery({ url: "https://bot.example.com/messages", type: "text" });
  await ada.say("One moment", { kind: "custom_bot", name: "orders" });
  await ada.idle();
  match(await ada.transcript(), /One moment {2}→ customer "Ada"$/);
});

test("nothing is left after destroy", async () => {
  await account().destroy();
  await account().expectNoObject("Authentication", {});
});
