import { kindOf, type Reply, type Running, running } from "./running.js";

const channel = kindOf("Channel");

/** Gives the emulator rules for faults. */
export const arm = async (service: Running, rules: object): Promise<void> => {
  const reply = await service.control("POST", "/faults", rules);
  if (reply.status !== 200) throw new Error(reply.text);
};

/** The channels that the service holds. */
export const stored = async (service: Running): Promise<Record<string, unknown>[]> => {
  const { json } = await service.control("GET", "/snapshot");
  return (json.objects as Record<string, Record<string, unknown>[]>).channels ?? [];
};

const count = async (service: Running): Promise<number> => (await stored(service)).length;

/** One call each way at an object that exists, and whether the service acted. */
const calls = {
  "POST /channels": async (service: Running) => {
    const body = await service.body(channel);
    return {
      call: (signal?: AbortSignal) =>
        service.call("POST", "/channels", body, signal ? { signal } : {}),
      acted: async () => (await count(service)) === 2,
    };
  },
  "PUT /channels/{id}": async (service: Running, id: string) => {
    const body = await service.body(channel, { displayName: "changed" });
    return {
      call: (signal?: AbortSignal) =>
        service.call("PUT", `/channels/${id}`, body, signal ? { signal } : {}),
      acted: async () => (await stored(service))[0]?.displayName === "changed",
    };
  },
  "DELETE /channels/{id}": async (service: Running, id: string) => ({
    call: (signal?: AbortSignal) =>
      service.call("DELETE", `/channels/${id}`, undefined, signal ? { signal } : {}),
    acted: async () => (await count(service)) === 0,
  }),
} as const;

type Writing = keyof typeof calls;

/** The calls that change something. */
export const writing = Object.keys(calls) as readonly Writing[];

/** A service with one channel and a rule for the next such call. */
export const prepared = async (on: Writing, rule: object) => {
  const service = await running();
  const id = await service.make(channel);
  const { call, acted } = await calls[on](service, id);
  await arm(service, { on, ...rule });
  return { service, call, acted };
};

/** Status of the call without a fault. */
export const usual: Readonly<Record<Writing, number>> = {
  "POST /channels": 201,
  "PUT /channels/{id}": 204,
  "DELETE /channels/{id}": 204,
};

/** Asks for a token. */
export const token = (service: Running): Promise<Reply> =>
  service.form(service.emulator.tokenUrl, service.credentials());
