import "./policy-package.js";

export { conversationPolicies } from "./conversation-policies.js";
