// Pulumi starts this folder as a plugin; the plugin itself is a part of the package around it.
require("../dist/provider/plugin/main.js");
