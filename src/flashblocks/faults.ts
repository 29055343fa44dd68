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
      `the feed of ${d.upstream} has sent ${d.faults} messages that are wrong and none that fits; the last: ${d.last}`,
    fix: 'check that it publishes blocks of this chain, or name another one: --flashblocks.url',
  },
  PENDING_STALE: {
    severity: 'retry',
    says: (d: { forSec: number; why: string }) => `no flashblock that fits has come for ${d.forSec} s: ${d.why}`,
    fix: 'check the publisher, or name a second one: --flashblocks.url=URL,URL; until one comes, pending is what is sealed',
  },
})
