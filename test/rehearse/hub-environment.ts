/** The settings of an account that is not asked. */
export const hubEnvironment = {
  CONVERSATION_BASE_URL: "https://hub.example.com/v3",
  CONVERSATION_TOKEN_URL: "https://hub.example.com/token",
  CONVERSATION_CLIENT_ID: "id",
  CONVERSATION_CLIENT_SECRET: "secret",
};
