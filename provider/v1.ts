/** The module that every state points to: its path and what it exports are frozen. */
export { type EngineConfig, lifecycleOf } from "./dynamic/v1.js";
