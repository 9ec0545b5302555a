import type { Json } from "./strict-http.js";

/** Where messages for one side go, and what is shown there (contract §10.3). */
export interface StrictCallback {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly version: "v1" | "v3";
}

/** Version v1: texts of `user` and `system` only, at the top, with a time in milliseconds. */
const v1 = (message: Json): Json => ({
  message: [
    {
      ...message,
      sender: { ...(message.sender as Json), type: "user" },
      timeStamp: Date.now(),
    },
  ],
});

/** The content arrives as text in callbacks: the text itself, or JSON text. */
const asText = (content: unknown): unknown => {
  if (typeof content !== "object" || content === null) return content;
  return "text" in content ? content.text : JSON.stringify(content);
};

/**
 * Delivers in order for each side, every message twice, as a service may that did not hear the
 * first answer.
 */
export const strictDeliveries = (sides: Readonly<Record<string, StrictCallback>>) => {
  const queues = new Map<string, Promise<void>>();
  const statuses: number[] = [];

  const post = async (side: StrictCallback, message: Json): Promise<void> => {
    const { username, password } = side;
    const known = Buffer.from(`${username}:${password}`).toString("base64");
    const told = { ...message, content: asText(message.content), trace: { hop: 1 } };
    const body = side.version === "v1" ? v1(told) : { messages: { message: [told] }, page: 1 };
    const response = await fetch(side.url, {
      method: "POST",
      headers: {
        authorization: `Basic ${known}`,
        "content-type": "application/json; charset=utf-8",
      },
      body: JSON.stringify(body),
    });
    statuses.push(response.status);
  };

  return {
    /** Answers of the callbacks, in order of arrival. */
    statuses,
    send: (name: string, message: Json): void => {
      const side = sides[name];
      if (!side) return;
      const before = queues.get(name) ?? Promise.resolve();
      const twice = async (): Promise<void> => {
        await post(side, message);
        await post(side, message);
      };
      queues.set(name, before.then(twice));
    },
    /** When everything that was sent has been answered. */
    idle: async (): Promise<void> => void (await Promise.all(queues.values())),
  };
};
