import type * as automation from "@pulumi/pulumi/automation";
import type * as conversation from "../../sdk/index.js";
import type { EmulatedStack } from "../../sdk/testing/index.js";

/* What a reader of a page has at hand already where a block does not declare it. Types only: nothing is run. */

declare global {
  const shop: conversation.ConversationAccount;
  const account: conversation.Account;
  const args: conversation.AccountArgs;
  const authentication: conversation.Authentication;
  const clientApplication: conversation.ClientApplication;
  const participant: conversation.Participant;
  const channel: conversation.Channel;
  const orchestration: conversation.Orchestration;
  const config: import("@pulumi/pulumi").Config;
  const botImage: { readonly digest: string };
  const stack: automation.Stack;
  const secrets: {
    readonly [name in "deskLoginPassword"]: import("@pulumi/pulumi").Output<string>;
  };
  const expect: import("vitest").ExpectStatic;
  const test: (name: string, body: (context: { readonly shop: EmulatedStack }) => unknown) => void;
}
