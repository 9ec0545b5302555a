import { subscribe, unsubscribe } from "node:diagnostics_channel";

/* Loaded first into the processes that tests of the built package start. One that serves something may have an
   emulator, whose first call is for a token. */

const served = "http.server.request.start";

const watch = (): void => {
  unsubscribe(served, watch);
  require("./seen-violations.js");
};

if (process.env.TEST_VIOLATIONS_FILE) subscribe(served, watch);
