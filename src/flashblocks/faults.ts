import { defineFaults } from '#lib/fault'

export const flashblocksFault = defineFaults({
  FEED_URL_INVALID: {
    severity: 'fatal',
    says: (d: { reason: string }) => `--flashblocks.url: ${d.reason}`,
    fix: 'give WebSocket URLs of publishers of this chain: --flashblocks.url=wss://host/ws,wss://other/ws',
  },
  FEED_UNHEALTHY: {
    severity: 'retry',
    says: (d: { upstream: string; faults: number; last: string }) =>
      `publisher ${d.upstream} sent ${d.faults} invalid messages in a row; last: ${d.last}`,
    fix: 'check that it publishes this chain, or set another publisher: --flashblocks.url',
  },
  PENDING_STALE: {
    severity: 'retry',
    says: (d: { forSec: number; why: string }) => `no fitting flashblock for ${d.forSec} s: ${d.why}`,
    fix: 'check the publisher, or add a second one: --flashblocks.url=URL,URL; until then, pending is the block of --pending.fallback',
  },
})
