import { type MockedProgram, runMocked } from "pulumi-conversation/testing";
import { beforeAll, expect, test } from "vitest";

let program: MockedProgram;

/** Runs index.ts without Pulumi's engine and without a service; breaks where a preview would refuse it. */
beforeAll(async () => {
  program = await runMocked(() => import("./index.js"), {
    project: "${PROJECT}",
    config: { callbackHost: "https://chat.test", callbackSecret: "only-for-tests" },
  });
});

test("customers write to the bot, and it can hand over to the agents", () => {
  const bot = program.resource("ClientApplication", "shop-orders");
  const agent = program.resource("ClientApplication", "shop-agent");
  program.expectResource("Orchestration", "shop", {
    applications: {
      botConfiguration: {
        bots: [{ application: bot.id, onEscalation: { agent: agent.id } }],
      },
    },
  });
});

test("every callback is signed in to, over https", () => {
  const applications = program.resources.filter(({ type }) => type.endsWith(":ClientApplication"));
  expect(applications).toHaveLength(3);
  for (const { name } of applications)
    program.expectResource("ClientApplication", name, {
      roles: [{ callback: /^https:\/\/chat\.test\//, authentication: /./ }],
    });
});

test("a message is only sent where the configuration asks for it", () => {
  program.expectResource("ConversationSmokeTest", "smoke", { enabled: false });
});
