/** An order of the shop that has not arrived yet. */
export interface Order {
  readonly id: string;
  readonly item: string;
  readonly status: string;
}

/** The open orders of the one customer that this shop has. A real shop asks its own system. */
export const openOrders: readonly Order[] = [
  { id: "1001", item: "Running shoes", status: "packed" },
  { id: "1002", item: "Rain jacket", status: "with the carrier" },
];

/** The order that a message mentions. */
export const orderIn = (text: string): Order | undefined =>
  openOrders.find(({ item }) => text.includes(item));

/** Orders as the bytes of a CSV file. */
export const ordersFile = (orders: readonly Order[]): Uint8Array => {
  const lines = orders.map(({ id, item, status }) => `${id},${item},${status}\n`);
  return new TextEncoder().encode(`order,item,status\n${lines.join("")}`);
};
