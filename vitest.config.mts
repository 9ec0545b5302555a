/** Plain `npx vitest` runs the tests as they are written, and never their compiled copies. */
export { default } from "./test/vitest.config.mts";
