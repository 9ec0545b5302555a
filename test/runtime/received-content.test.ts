import { expect, test } from "vitest";
import { message, receiver, v3 } from "./support/callback-calls.js";

test("content has the type that its message type says; what has another one is missing", async () => {
  const { deliver, received } = receiver();
  const list = { sections: [{ title: "Open", items: [{ id: 7, title: "Shoes" }, { id: "8" }] }] };
  const picker = { type: { value: "richMessage.listpicker" } };
  await deliver(
    v3(
      message("1", "", {
        ...picker,
        content: { title: 5, version: "1", list, more: { kept: true } },
      }),
      message("2", "", { content: { text: 5, redact: true } }),
      message("3", "", { type: { value: "richMessage.form" }, content: { any: 1 } }),
    ),
  );
  expect(received.map(({ content }) => content)).toEqual([
    {
      version: "1",
      list: { sections: [{ title: "Open", items: [{ title: "Shoes" }, { id: "8" }] }] },
      more: { kept: true },
    },
    { redact: true },
    { any: 1 },
  ]);
  expect(received[0]?.raw).toMatchObject({ content: { title: 5 } });
});
