/*
 * Authorization code flow with PKCE for public clients (specification §5.3), for users and for
 * customers alike: the two variants differ in their addresses only. Runs in browsers and in Node,
 * without any dependency.
 */
export {
  type Authorization,
  type AuthorizationRequest,
  authorizationUrl,
  type CodeExchange,
  challengeOf,
  codeFromRedirect,
  createProofKey,
  createState,
  createVerifier,
  exchangeCode,
  type FetchLike,
  type GrantedToken,
  type ProofKey,
  startAuthorization,
} from "./authorization.js";
