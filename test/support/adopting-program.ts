/**
 * A program as a person writes it who knows an account: every object of `account.json` under a name of its
 * own, what it refers to as variables, and nothing of what only the service knows. It adopts all of them.
 */
export const adoptingProgram = `
const { readFileSync } = require("node:fs");
const hub = require("pulumi-conversation");

const account = JSON.parse(readFileSync("account.json", "utf8"));
const made = new Map();
const at = (reference) => reference && made.get(reference.id);
const map = (list) => list && Object.fromEntries(list.map(({ name, value }) => [name, value]));

const declare = (collection, Kind, argsOf) =>
  account[collection].forEach((object, place) => {
    const args = { ...argsOf(object), active: object.active, adopt: object.id };
    made.set(object.id, new Kind(collection + "-" + place, args));
  });

declare("authentications", hub.Authentication, ({ name, basicAuth, oauth2 }) => ({
  name,
  ...(basicAuth ? { basicAuth } : { oauth2: { ...oauth2, headers: map(oauth2.headers) } }),
}));
declare("clientapplications", hub.ClientApplication, ({ name, roles }) => ({
  name,
  roles: roles.map(({ queue, authentication, headers, ...role }) => ({
    ...role,
    authentication: at(authentication),
    headers: map(headers),
  })),
}));
declare("participants", hub.Participant, ({ name, type, application, intents, options }) => ({
  ...{ name, type, application: at(application) },
  intents: intents && intents.intent,
  options: map(options),
}));
declare("channels", hub.Channel, ({ type, displayName, icon }) => ({ type, displayName, icon }));
declare("orchestrations", hub.Orchestration, ({ name, applications }) => {
  const { customerConfiguration, botConfiguration, agentConfiguration } = applications;
  const bots = botConfiguration && botConfiguration.bots.map((bot) => ({
    application: at(bot),
    participant: at(bot.participant),
    onEscalation: { agent: at(bot.onEscalation.agent) },
  }));
  return {
    name,
    applications: {
      customerConfiguration: { customer: at(customerConfiguration.customer) },
      ...(bots ? { botConfiguration: { ...botConfiguration, bots } } : {}),
      agentConfiguration: { agents: agentConfiguration.agents.map(at) },
    },
  };
});
declare("accounts", hub.Account, ({ name, address, channel, chatConfigurations, attributes }) => ({
  ...{ name, address, channel: at(channel), attributes: map(attributes) },
  chatConfigurations: {
    timeout: chatConfigurations.timeout,
    orchestration: at(chatConfigurations.orchestration),
  },
}));
`;
