// Cost of posting 1,000 transfers a second: CPU of the batcher's whole process (compression and proofs in their threads included) and of its
// main thread. L1 and L2 are ports without cost; each transfer has its own signature, which does not compress.

import { randomBytes } from 'node:crypto'
import { Registry } from 'prom-client'
import { Batcher } from '#batcher/batcher'
import { batcherMetrics } from '#batcher/metrics'
import type { BatcherSettings } from '#batcher/options'
import type { BatcherL1, BatcherL2 } from '#batcher/ports'
import { KzgThread } from '#lib/kzg/kzgThread'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { keyOf } from '#test/harness/derive/l1'
import { DeriveWorld, forksTo } from '#test/harness/derive/world'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import { signTransaction } from '#types/signing'
import { type Row, row } from './format.ts'

const transfersPerBlock = 2_000
const blocksPerRun = 24
const rounds = 3
const slotMs = 2_000

function transfers(): Uint8Array[] {
  const keys = Array.from({ length: 100 }, () => new Uint8Array(randomBytes(32)))
  const accounts: Address[] = Array.from({ length: 1_000 }, () => addressFromBytes(randomBytes(20)))
  const fees = {
    chainId: 90_001n,
    maxFeePerGas: 1_100_000_000n,
    maxPriorityFeePerGas: 100_000_000n,
    accessList: [],
    data: new Uint8Array(0),
  }
  return Array.from({ length: transfersPerBlock * blocksPerRun }, (_, i) => {
    const to = accounts[i % accounts.length] ?? null
    const value = BigInt(1 + Math.floor(Math.random() * 1e9)) * 1_000_000_007n
    const key = keys[i % keys.length] ?? new Uint8Array(32)
    return signTransaction({ ...fees, type: 2, nonce: BigInt(Math.floor(i / keys.length)), gasLimit: 21_000n, to, value }, key).raw
  })
}

type Measured = { readonly perCore: number; readonly perMainThread: number; readonly bytes: number; readonly transactions: number }

async function post(world: DeriveWorld, kzg: KzgThread, settings: Partial<BatcherSettings>): Promise<Measured> {
  const clock = createManualClock()
  let now = 0
  let sent = 0n
  let waiting = Promise.withResolvers<void>()
  const block = { hash: `0x${'11'.repeat(32)}` as Hash, number: 0 }
  const l1: BatcherL1 = {
    tip: async () => ({ ...block, number: now, timestamp: 1_700_000_000 + now * 2, baseFeeWei: 10n ** 9n, blobBaseFeeWei: 1n }),
    nonces: async () => ({ latest: sent, pending: sent }),
    send: async () => void sent++,
    inclusion: async () => ({ block: { ...block, number: now }, succeeded: true, feeWei: 1n }),
  }
  const l2: BatcherL2 = {
    status: async () => ({ unsafe: world.blocks[Math.min(now, blocksPerRun)]?.ref ?? world.safe, safe: world.safe, currentL1: undefined }),
    block: async (number) => world.blocks[number],
    throttle: async () => {},
  }
  const abort = new AbortController()
  const delay: typeof clock.delay = async (ms, signal) => {
    waiting.resolve()
    await clock.delay(ms, signal)
  }
  const batcher = new Batcher(
    {
      l1,
      l2,
      prover: kzg,
      signer: (unsigned) => signTransaction(unsigned, keyOf('batcher')),
      clock: { ...clock, delay },
      random: Math.random,
      log: silentLog,
      metrics: batcherMetrics.register(new Registry()),
    },
    { config: world.config, pollMs: slotMs / 4, ...settings },
  )
  const [cpu, main] = [process.cpuUsage(), process.threadCpuUsage()]
  const over = batcher.run(abort.signal)
  for (now = 1; now < blocksPerRun + 10; now++) {
    for (let left = 0; left < slotMs; left += slotMs / 4) {
      await waiting.promise
      waiting = Promise.withResolvers<void>()
      await clock.advanceMs(slotMs / 4)
    }
  }
  await waiting.promise
  const [{ user, system }, thread] = [process.cpuUsage(cpu), process.threadCpuUsage(main)]
  const { postedBlocks, postedBytes } = batcher.status()
  abort.abort()
  await over
  const count = transfersPerBlock * blocksPerRun
  if (postedBlocks < blocksPerRun) throw new Error(`${postedBlocks} blocks posted`)
  return {
    perCore: (count * 1e6) / (user + system),
    perMainThread: (count * 1e6) / (thread.user + thread.system),
    bytes: postedBytes,
    transactions: Number(sent),
  }
}

export async function run(): Promise<readonly Row[]> {
  await using kzg = new KzgThread()
  await kzg.prove(new Uint8Array(131_072), 'blobs')
  const world = new DeriveWorld(forksTo('jovian'))
  const all = transfers()
  world.sequence(blocksPerRun, (number) => all.slice((number - 1) * transfersPerBlock, number * transfersPerBlock))
  const rows: Row[] = []
  for (const [name, settings] of [
    ['calldata, span, brotli fast', { carrier: 'calldata' }],
    ['blobs, span, brotli fast', { carrier: 'blobs' }],
    ['calldata, singular, zlib', { carrier: 'calldata', form: 'singular', compression: 'zlib' }],
    ['calldata, span, brotli best', { carrier: 'calldata', effort: 'best' }],
  ] as const) {
    const measured: Measured[] = []
    for (let round = 0; round <= rounds; round++) measured.push(await post(world, kzg, settings))
    const warm = measured.slice(1)
    rows.push(
      row(
        `${name}: posted`,
        'transfers/s of a core',
        warm.map(({ perCore }) => perCore),
      ),
    )
    rows.push(
      row(
        `${name}: main thread`,
        'transfers/s of it',
        warm.map(({ perMainThread }) => perMainThread),
      ),
    )
    const [first] = warm
    console.log(`${name}: ${((first?.bytes ?? 0) / all.length).toFixed(1)} bytes a transfer, ${first?.transactions} L1 transactions`)
  }
  return rows
}
