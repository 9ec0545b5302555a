import { assertInstalled } from "../../provider/kernel/package.js";

// Before any module that imports it: Node's own message does not say how to get it.
assertInstalled("@pulumi/policy", "pulumi-conversation/policies requires Pulumi's policy SDK");
