import type { RegisterCommand } from "../command.js";
export const registerEmulator: RegisterCommand = () => {};
