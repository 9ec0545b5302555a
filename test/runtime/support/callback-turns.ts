import { settled } from "../../service/support/clocks.js";
import { message, type Receiver, right, v3 } from "./callback-calls.js";

/** Delivers messages, and does not wait for the work on them. */
export const call = (handler: Receiver["handler"], ...messages: unknown[]): Promise<Response> =>
  handler.fetch(
    new Request("http://x.example/", {
      method: "POST",
      headers: { authorization: right },
      body: JSON.stringify(v3(...messages)),
    }),
  );

export const inConversation = (conversation: string, id: string) =>
  message(id, id, { conversation: { id: conversation } });

export const never = () => new Promise<void>(() => {});

/** Lets what was begun go as far as it can. */
export const progressed = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await settled();
};
