import type * as conversation from "../../sdk/index.js";
import type { EmulatedStack } from "../../sdk/testing/index.js";

/* What a reader of a page has at hand already where a block does not declare it. Types only: nothing is run. */

declare global {
  const authentication: conversation.Authentication;
  const clientApplication: conversation.ClientApplication;
  const participant: conversation.Participant;
  const channel: conversation.Channel;
  const orchestration: conversation.Orchestration;
  const secrets: {
    readonly [name in "authenticationDeskLoginPassword"]: import("@pulumi/pulumi").Output<string>;
  };
  const expect: import("vitest").ExpectStatic;
  const test: (name: string, body: (context: { readonly shop: EmulatedStack }) => unknown) => void;
}
