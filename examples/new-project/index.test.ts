import { type MockedProgram, runMocked } from "pulumi-conversation/testing";
import { beforeAll, expect, test } from "vitest";

let program: MockedProgram;

/** Runs index.ts without Pulumi's engine and without a service; fails if a preview would fail. */
beforeAll(async () => {
  program = await runMocked(() => import("./index.js"), {
    project: "${PROJECT}",
    config: { callbackHost: "https://chat.test", callbackSecret: "only-for-tests" },
  });
});

test("the bot answers customers and can hand over to the agents", () => {
  const bot = program.resource("ClientApplication", "shop-bot");
  const agent = program.resource("ClientApplication", "shop-agent");
  program.expectResource("Orchestration", "shop", {
    applications: {
      botConfiguration: {
        bots: [{ application: bot.id, onEscalation: { agent: agent.id } }],
      },
    },
  });
});

test("every callback needs a sign-in and uses HTTPS", () => {
  const applications = program.resources.filter(({ type }) => type.endsWith(":ClientApplication"));
  expect(applications).toHaveLength(3);
  for (const { name } of applications)
    program.expectResource("ClientApplication", name, {
      roles: [{ callback: /^https:\/\/chat\.test\//, authentication: /./ }],
    });
});
