import "./policy-parts.js";

export { conversationPolicies } from "./conversation-policies.js";
