export { conversationPolicies } from "./conversation-policies.js";
