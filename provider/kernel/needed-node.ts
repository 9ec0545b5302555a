import { assertNode } from "./node-version.js";

// Imported first, before modules that need more than an old version has.
assertNode();
