/** The most objects on a page that sibling services give (assumed; parameter `$pagesize`). */
export const widestPage = 75;

const pagesOf = (count: number, size: number): number => Math.max(1, Math.ceil(count / size));

/**
 * Whether to start again with the widest pages, once the first page has told how many objects there
 * are. It costs a call that is wasted where the service gives no wider pages, so it must save two.
 */
export const isWorthWidening = (count: number, pageSize: number): boolean =>
  pagesOf(count, pageSize) - (1 + pagesOf(count, widestPage)) >= 2;

/** Calls that it takes to read a list of so many objects in pages of so many. */
export const listCalls = (count: number, pageSize: number): number =>
  isWorthWidening(count, pageSize) ? 1 + pagesOf(count, widestPage) : pagesOf(count, pageSize);
