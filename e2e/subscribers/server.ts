// The target of `../subscribers.ts`: a WebSocket server over a chain in memory.
import { Registry } from 'prom-client'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { SocketContext } from '#rpc/context'
import { socketRegistry } from '#rpc/methods'
import { rpcMetrics } from '#rpc/metrics'
import { createWsServer } from '#rpc/server/wsServer'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'

const maxConnections = Number(process.argv[2])
const chain = fakeChain([[], [[]]])
const feed = scriptedFeed()
const eth = fakeContext(chain)
const server = await createWsServer<SocketContext>(
  {
    ...{ registry: socketRegistry, heads: feed, subscriptionBudget: eth.filters.budget, log: silentLog, clock: systemClock },
    contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
    metrics: rpcMetrics.register(new Registry()),
  },
  { host: '127.0.0.1', port: 0, flag: 'ws.port', limits: { maxConnections } },
)

let longestMs = 0
let lookedMs = performance.now()
setInterval(() => {
  const nowMs = performance.now()
  longestMs = Math.max(longestMs, nowMs - lookedMs - 50)
  lookedMs = nowMs
}, 50)

process.on('message', (what) => {
  if (what === 'block') {
    chain.reorganise(chain.blocks.length, [[[{ address: account(0), topics: [topic(1)], data: new Uint8Array(0) }]]])
    const block = chain.blocks.at(-1)
    if (block) feed.tell(block)
  }
  const { heapUsed, rss } = process.memoryUsage()
  process.send?.({ heapUsed: Math.round(heapUsed / 1e6), rss: Math.round(rss / 1e6), stalledMs: Math.round(longestMs) })
  longestMs = 0
})
process.send?.({ url: server.url })
