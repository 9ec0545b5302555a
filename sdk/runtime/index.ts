export {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
  isConversationError,
} from "../../provider/service/errors.js";
