import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { rpcMetrics } from '../metrics.ts'
import { UnreadTotal } from './unread.ts'

function counted(maxBytes: number) {
  const lines: string[] = []
  const registry = new Registry()
  const log = createLog('warn', { write: (line) => lines.push(line) })
  const total = new UnreadTotal({ log, metrics: rpcMetrics.register(registry) }, maxBytes)
  const ended: string[] = []
  const join = (name: string, over: 'http' | 'websocket' = 'http') => total.join(over, () => ended.push(name))
  return { lines, registry, total, ended, join }
}

it('rpc/server/unread: beyond the bound, ends the connection that holds most, with a log line, and no other', async () => {
  const { ended, join, lines, registry } = counted(100)
  const [greedy, other] = [join('greedy', 'websocket'), join('other')]
  greedy.share().add(40)
  greedy.share().add(30) // no single answer is large
  other.add(30)
  expect(ended).toEqual([])
  other.share().add(20)
  expect(ended).toEqual(['greedy'])
  expect(JSON.parse(lines.join())).toMatchObject({ over: 'websocket', bytes: 70, allBytes: 120, connections: 2 })
  expect(await registry.getSingleMetricAsString('basalt_rpc_unread_ends_total')).toMatch(/over="http"} 0[\s\S]*over="websocket"} 1/)
  expect([greedy.isGone, other.isGone, other.bytes]).toEqual([true, false, 50])
  greedy.add(1_000) // the connection is gone
  greedy.share().add(1_000)
  other.add(50)
  expect(ended).toEqual(['greedy'])
  other.add(1)
  expect(ended).toEqual(['greedy', 'other'])
  join('new').add(100)
  expect(ended).toHaveLength(2)
})

it('rpc/server/unread: ends as many connections as needed', () => {
  const { ended, join } = counted(100)
  for (const [index, bytes] of [30, 40, 20].entries()) join(`${index}`).add(bytes)
  join('last').add(100)
  expect(ended).toEqual(['last'])
  join('next').add(39)
  expect(ended).toEqual(['last', '1'])
})

it('rpc/server/unread: stops counting, once, what is read, replaced, returned, or of a closed connection', () => {
  const { ended, join } = counted(100)
  const connection = join('reads')
  for (let each = 0; each < 5; each++) {
    using share = connection.share()
    share.add(60)
    share.replace(100)
    expect(connection.bytes).toBe(100)
    share[Symbol.dispose]()
    expect([share.isGone, connection.bytes]).toEqual([true, 0])
    share.add(100)
  }
  connection.add(80)
  connection.add(-80)
  for (let each = 0; each < 5; each++) {
    const closes = join('closes')
    const share = closes.share()
    share.add(100)
    closes[Symbol.dispose]()
    closes[Symbol.dispose]()
    share[Symbol.dispose]()
    closes.add(-100) // the callback of a pending write
    expect(closes.share().isGone).toBe(true)
  }
  connection.add(100)
  expect(ended).toEqual([])
})
