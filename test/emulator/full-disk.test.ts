import { createHash } from "node:crypto";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { putSnapshot, reset, takeSnapshot } from "../../emulator/control/snapshot.js";
import { AssetStore } from "../../emulator/conversations/assets.js";
import { ConversationStore } from "../../emulator/conversations/conversation-store.js";
import { sendMessages } from "../../emulator/conversations/conversations.js";
import { createService, type EmulatedService } from "../../emulator/hub/service.js";
import { Store } from "../../emulator/objects/objects.js";
import { type Journal, sqliteJournal } from "../../emulator/service/journal.js";
import { savedSwitches, turnSwitches } from "../../emulator/service/switches.js";
import { Clients } from "../../emulator/tokens/clients.js";

/** A journal on a disk that has room for so many more writes; the end of a transaction is one, too. */
const onDisk = (journal: Journal) => {
  const room = { left: Number.POSITIVE_INFINITY };
  const spend = () => {
    if (room.left <= 0) throw new Error("the disk is full");
    room.left -= 1;
  };
  const full: Journal = {
    ...journal,
    write: (...what) => {
      spend();
      journal.write(...what);
    },
    remove: (...what) => {
      spend();
      journal.remove(...what);
    },
    clear: (section) => {
      spend();
      journal.clear(section);
    },
    together: (work) =>
      journal.together(() => {
        work();
        spend();
      }),
  };
  return { full, room };
};

const own = { clientId: "emulator", clientSecret: "own", scopes: [] };

const serviceOn = (journal: Journal): EmulatedService => {
  const plain = createService({ clock: "manual", switches: { inactiveObjects: "used" } });
  return {
    ...plain,
    journal,
    switches: savedSwitches(journal, {}),
    store: new Store(plain.clock, journal),
    clients: new Clients(journal, own),
    conversations: new ConversationStore(journal),
    assets: new AssetStore(journal),
  };
};

const at = "2024-01-01T00:00:00.000Z";
const channel = (type: string) => ({
  id: `channel-${type}`,
  created: at,
  modified: at,
  type,
  displayName: "Kiosk",
  icon: "aVZC",
});
const account = {
  id: "account",
  created: at,
  modified: at,
  name: "kiosk",
  address: "kiosk-1",
  channel: { id: "channel-custom.a" },
  chatConfigurations: {},
};
const asset = (id: string) => ({
  id,
  channelType: "custom.a",
  senderType: "customer",
  name: "a.bin",
  size: 600,
  contentType: "application/octet-stream",
  created: at,
  uploaded: false,
  used: false,
});
const greeting = {
  type: { value: "text" },
  conversation: {
    account: { channel: { type: "custom.a" }, address: "kiosk-1" },
    customer: { name: "Ada" },
  },
  sender: { type: "customer" },
  attachments: { attachment: [{ id: "one" }] },
};

/** Everything that writes more than one row, and some that write one. */
const works: Readonly<Record<string, (service: EmulatedService) => unknown>> = {
  put: ({ store }) => store.put("channels", channel("custom.a")),
  rename: ({ store }) =>
    store.put("channels", { ...channel("custom.a"), type: `custom.${store.version}` }),
  remove: ({ store }) => store.remove("channels", "channel-custom.a"),
  account: ({ store }) => store.put("accounts", account),
  asset: ({ assets }) => assets.get("one") ?? assets.put(asset("one")),
  upload: ({ assets }) =>
    assets.contentOf("one") ?? assets.put({ ...asset("one"), uploaded: true }, Buffer.alloc(600)),
  unload: ({ assets }) => assets.remove("one"),
  client: ({ clients }) => clients.put({ ...own, clientSecret: "another" }),
  switches: ({ journal, switches }) =>
    turnSwitches(journal, switches, { deliveryRetries: 7, put: "keep" }),
  message: (service) =>
    sendMessages(service, {
      request: new IncomingMessage(new Socket()),
      query: new URLSearchParams(),
      id: "",
      body: () => ({ messages: { message: [greeting, greeting] } }),
    }),
  reset,
  snapshot: (service) =>
    putSnapshot(service, {
      version: 1,
      objects: { channels: [channel("custom.a"), channel("custom.b")], accounts: [account] },
      assets: [{ ...asset("two"), size: 1, uploaded: true, content: "AA==" }],
      clients: [{ clientId: "robot", clientSecret: "robot's", scopes: [] }],
      switches: { deliveryRetries: 9 },
    }),
};

/** Everything that a service shows, in short. */
const shownBy = (service: EmulatedService): string =>
  createHash("sha256")
    .update(JSON.stringify(takeSnapshot(service)))
    .digest("hex");

test("what is shown is what the data file holds, wherever the disk gets full", () => {
  const step = fc.record({
    name: fc.constantFrom(...Object.keys(works)),
    room: fc.option(fc.nat({ max: 12 })),
  });
  let failed = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 15 }), (steps) => {
      const journal = sqliteJournal(":memory:");
      onTestFinished(() => journal.close());
      const { full, room } = onDisk(journal);
      const service = serviceOn(full);
      for (const { name, room: left } of steps) {
        room.left = left ?? Number.POSITIVE_INFINITY;
        const before = shownBy(service);
        let failure: unknown;
        try {
          works[name]?.(service);
        } catch (error) {
          failure = error;
        }
        const shown = shownBy(service);
        expect(shown).toBe(shownBy(serviceOn(journal)));
        if (!failure) continue;
        expect([name, shown]).toEqual([name, before]);
        failed += String(failure).includes("the disk is full") ? 1 : 0;
      }
    }),
    { numRuns: 30 * Number(process.env.FUZZ_SCALE ?? 1) },
  );
  expect(failed).toBeGreaterThan(10);
});
