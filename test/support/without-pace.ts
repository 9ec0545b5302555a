import { unlimitedBurst } from "../../provider/pacing/pacer.js";

/** Nothing waits for a turn that an emulator without limits does not ask for. */
export const withoutPace = { CONVERSATION_BURST: String(unlimitedBurst) } as const;
