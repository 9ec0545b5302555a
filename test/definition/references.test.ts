import { expect, test } from "vitest";
import { deletionOrder, referencesTo, setUpOrder } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";

/** The kinds of the specification; later ones do not disturb its tables. */
const specified = [
  "Authentication",
  "ClientApplication",
  "Participant",
  "Channel",
  "Orchestration",
  "Account",
];

const kinds = (definitions: readonly { kind: string }[]) =>
  definitions.map(({ kind }) => kind).filter((kind) => specified.includes(kind));

test("the setup order is the specification's", () => {
  expect(kinds(setUpOrder([...resources].reverse()))).not.toEqual(kinds(resources));
  expect(kinds(setUpOrder(resources))).toEqual(specified);
});

test("the deletion order holds for every reading of the rules", () => {
  expect(kinds(deletionOrder(resources))).toEqual([
    "Account",
    "Orchestration",
    "Participant",
    "ClientApplication",
    "Channel",
    "Authentication",
  ]);
});

test("the other end of the references", () => {
  const paths = (kind: string) => {
    const target = resources.find((definition) => definition.kind === kind);
    if (!target) throw new Error(kind);
    const of = resources.filter((definition) => specified.includes(definition.kind));
    return referencesTo(target, of).map(({ from, path }) => `${from.kind}.${path}`);
  };
  expect(paths("Authentication")).toEqual(["ClientApplication.roles[].authentication"]);
  expect(paths("ClientApplication")).toEqual([
    "Participant.application",
    "Orchestration.applications.botConfiguration.bots[].application",
    "Orchestration.applications.botConfiguration.bots[].onEscalation.agent",
    "Orchestration.applications.customerConfiguration.customer",
    "Orchestration.applications.agentConfiguration.agents[]",
  ]);
  expect(paths("Participant")).toEqual([
    "Orchestration.applications.botConfiguration.bots[].participant",
  ]);
  expect(paths("Channel")).toEqual(["Account.channel"]);
  expect(paths("Orchestration")).toEqual(["Account.chatConfigurations.orchestration"]);
  expect(paths("Account")).toEqual([]);
});
