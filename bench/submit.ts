// Transactions a second of one core over JSON-RPC, without the pool's own work: a pool that replies at the end of the turn of the event loop, as
// the client of the execution thread does. Measured by the server's CPU time, so that the clients' share of the machine does not count.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { ethRegistry } from '#rpc/methods'
import { createRpcServer } from '#rpc/server/httpServer'
import { fakeChain, fakeContext, fakePool } from '#test/harness/rpc/fakes'
import { parseHash } from '#types/ids'
import type { PoolOutcome } from '#types/pooledTransaction'
import { type Row, row } from './format.ts'

const rounds = 7
const roundMs = 1_500
const warmUpMs = 3_000

function turnPool() {
  const added: PoolOutcome = { kind: 'added', hash: parseHash(`0x${'12'.repeat(32)}`) }
  let waiting: ((outcome: PoolOutcome) => void)[] = []
  const counted = { count: 0 }
  const add = (): Promise<PoolOutcome> =>
    new Promise((resolve) => {
      counted.count++
      waiting.push(resolve)
      if (waiting.length > 1) return
      setImmediate(() => {
        const all = waiting
        waiting = []
        for (const answer of all) answer(added)
      })
    })
  return { counted, pool: { ...fakePool(), add } }
}

/** Transactions a second of CPU time, by round. */
async function measure(connections: number, batch: number): Promise<readonly number[]> {
  const { pool, counted } = turnPool()
  const eth = { ...fakeContext(fakeChain([[], []])), pool }
  const deps = { registry: ethRegistry, pages: new Map(), log: silentLog, clock: systemClock }
  const server = await createRpcServer(
    { ...deps, contextOf: (cancellation) => ({ ...eth, cancellation }) },
    { host: '127.0.0.1', port: 0, flag: 'http.port' },
  )
  const client = fork(new URL('submitClient.ts', import.meta.url), [String(server.port), String(connections), String(batch)])
  await systemClock.delay(warmUpMs)
  const runs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [count, cpu] = [counted.count, process.cpuUsage()]
    await systemClock.delay(roundMs)
    const { user, system } = process.cpuUsage(cpu)
    runs.push(((counted.count - count) * 1e6) / (user + system))
  }
  client.kill()
  await once(client, 'exit')
  await server[Symbol.asyncDispose]()
  return runs
}

export async function run(): Promise<readonly Row[]> {
  return [
    row('eth_sendRawTransaction, one a request, 32 connections', 'transactions/s of a core', await measure(32, 1)),
    row('eth_sendRawTransaction, batches of 100, 4 connections', 'transactions/s of a core', await measure(4, 100)),
  ]
}
