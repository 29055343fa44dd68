import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { createMemoryJournal } from '#store/memoryJournal'
import type { Journal, JournalPlace, JournalRecord } from '#store/ports'
import { nameOf, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import type { TxPool, TxPoolDeps, TxPoolLimits } from './txPool.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'basalt-pool-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const names = (pool: TxPool) => pool.content().map(({ raw }) => nameOf(raw))
const files = () => readdirSync(dir).map((name) => join(dir, name))
const many = (count: number, n = 1) => Array.from({ length: count }, (_, nonce) => poolTransaction(n, { nonce: BigInt(nonce) }))

/** Transactions in the pool of a node that starts on the directory of a killed node. */
function restarted(chain: PoolChain, limits: TxPoolLimits = {}): TxPool {
  using journal = openFileJournal(dir, silentLog)
  const pool = chain.pool(limits, { journal })
  pool.restore()?.finish()
  return pool
}

function filled(chain: PoolChain, batches: readonly (readonly Uint8Array[])[]): void {
  using journal = openFileJournal(dir, silentLog)
  const pool = chain.pool({}, { journal })
  for (const batch of batches) pool.add(batch)
}

it('txpool/poolJournal: keeps accepted transactions across a kill, and across the next start', () => {
  const chain = new PoolChain()
  filled(chain, [many(2), [poolTransaction(2, { nonce: 4n })], [poolTransaction(3, { chainId: 1n })]])
  expect(names(restarted(chain))).toEqual(['1/0', '1/1', '2/4'])
  expect(names(restarted(chain))).toEqual(['1/0', '1/1', '2/4'])
  expect(files()).toHaveLength(1)
})

it('txpool/poolJournal: drops transactions that were included before the start', () => {
  const chain = new PoolChain()
  filled(chain, [many(3)])
  chain.include(many(2))
  expect(names(restarted(chain))).toEqual(['1/2'])
  expect(names(restarted(new PoolChain()))).toEqual(['1/2'])
})

it('txpool/poolJournal: loses only the batch in a truncated record', () => {
  const chain = new PoolChain()
  filled(chain, [many(2), many(2, 2)])
  const [file = ''] = files()
  truncateSync(file, statSync(file).size - 1)
  expect(names(restarted(chain))).toEqual(['1/0', '1/1'])
})

it('txpool/poolJournal: restores no more than the limits of the pool', () => {
  const chain = new PoolChain()
  filled(chain, [many(50)])
  const pool = restarted(chain, { maxBytes: 16_800 })
  expect(pool.facts().heldBytes).toBeLessThanOrEqual(16_800)
  expect(names(pool)).toEqual(['1/0', '1/1', '1/2', '1/3', '1/4', '1/5', '1/6', '1/7', '1/8'])
})

it('txpool/poolJournal: restores the valid transactions of a damaged journal', () => {
  const sound = poolTransaction(1)
  const record = (bytes: Uint8Array): Uint8Array => {
    const out = new Uint8Array(9 + bytes.length)
    const view = new DataView(out.buffer)
    view.setUint32(0, bytes.length)
    view.setUint8(8, 2)
    out.set(bytes, 9)
    view.setUint32(4, crc32(out.subarray(8)))
    return out
  }
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.uint8Array({ maxLength: 60 }), (records, tail) => {
      for (const file of files()) rmSync(file)
      filled(new PoolChain(), [[sound]])
      const [file = ''] = files()
      for (const bytes of records) appendFileSync(file, record(bytes))
      appendFileSync(file, tail)
      expect(names(restarted(new PoolChain()))).toContain('1/0')
    }),
    { numRuns: 30 },
  )
  writeFileSync(join(dir, '000000000099.journal'), new Uint8Array(1_000).fill(255))
  writeFileSync(join(dir, 'other'), 'not a journal')
  expect(names(restarted(new PoolChain()))).toEqual(['1/0'])
})

it('txpool/poolJournal: rewrites a journal that is mostly dead, so that its size follows the pool', () => {
  const chain = new PoolChain()
  using journal = openFileJournal(dir, silentLog)
  const pool = chain.pool({}, { journal })
  const keptRaw = poolTransaction(9)
  pool.add([keptRaw])
  const data = new Uint8Array(60_000)
  let most = 0
  for (let nonce = 0; nonce < 60; nonce++) {
    const raw = poolTransaction(1, { nonce: BigInt(nonce), data, gasLimit: 1_000_000n })
    pool.add([raw])
    pool.onPublished(chain.include([raw]))
    most = Math.max(most, journal.sizeBytes)
  }
  expect(most).toBeLessThan(1.2 * 2 ** 20)
  expect(files().reduce((sum, file) => sum + statSync(file).size, 0)).toBe(journal.sizeBytes)
  expect(names(restarted(chain))).toEqual(['9/0'])
})

it('txpool/poolJournal: bounds its size under repeated replacements without new heads', () => {
  const chain = new PoolChain()
  using journal = openFileJournal(dir, silentLog)
  const pool = chain.pool({}, { journal })
  const data = new Uint8Array(100_000)
  for (let round = 0, price = 1_000n; round < 60; round++, price += price / 8n)
    expect(pool.add([poolTransaction(1, { data, gasLimit: 5_000_000n, maxFeePerGas: price, maxPriorityFeePerGas: price })])).toMatchObject([
      { kind: 'added' },
    ])
  expect(journal.sizeBytes).toBeLessThan(2 * 2 ** 20)
  expect(names(restarted(chain))).toEqual(['1/0'])
})

it('txpool/poolJournal: loses nothing when the process is killed between two writes of a rewrite', () => {
  const states: JournalRecord[][][] = []
  const segments = new Map<number, JournalRecord[]>()
  const inner = createMemoryJournal(segments)
  const note = (): void => void states.push([...segments.values()].map((records) => [...records]))
  const noted: Journal = {
    records: () => inner.records(),
    read: (place) => inner.read(place),
    get segment() {
      return inner.segment
    },
    get sizeBytes() {
      return inner.sizeBytes
    },
    append(record) {
      const place = inner.append(record)
      note()
      return place
    },
    rotate() {
      inner.rotate()
      note()
    },
    drop(segment) {
      inner.drop(segment)
      note()
    },
    [Symbol.dispose]() {},
  }
  const chain = new PoolChain()
  const pool = chain.pool({}, { journal: noted })
  const waiting = Array.from({ length: 30 }, (_, n) =>
    poolTransaction(n, { nonce: 1n, data: new Uint8Array(90_000), gasLimit: 1_200_000n }),
  )
  const dead = Array.from({ length: 60 }, (_, n) => poolTransaction(n + 100, { data: new Uint8Array(90_000), gasLimit: 1_200_000n }))
  pool.add([...waiting, ...dead])
  const before = states.length
  pool.onPublished(chain.include(dead))
  expect(states.length).toBeGreaterThan(before + 3)
  for (const state of states.slice(before - 1)) {
    const left = new Map(state.map((records, i) => [i + 1, records] as const))
    const again = chain.pool({}, { journal: createMemoryJournal(left) })
    again.restore()?.finish()
    expect(again.size()).toEqual({ pending: 0, queued: 30 })
  }
})

it('txpool/poolJournal: keeps the pool running when the disk fails, with one warning until a write succeeds', () => {
  const inner = createMemoryJournal()
  let isFull = true
  const journal: Journal = {
    ...{
      records: () => inner.records(),
      read: (place: JournalPlace) => inner.read(place),
      rotate: () => inner.rotate(),
      drop: (segment: number) => inner.drop(segment),
    },
    ...{ segment: 1, sizeBytes: 0, [Symbol.dispose]: () => {} },
    append(record) {
      if (isFull) throw new Error('No space left on device')
      return inner.append(record)
    },
  }
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const pool = new PoolChain().pool({}, { journal, log })
  for (const raw of many(3)) expect(pool.add([raw])).toMatchObject([{ kind: 'added' }])
  expect(warnings).toHaveLength(1)
  isFull = false
  pool.add([poolTransaction(2)])
  isFull = true
  pool.add([poolTransaction(3)])
  expect(warnings).toHaveLength(2)
  expect(pool.size()).toEqual({ pending: 5, queued: 0 })
})

/** The pool of a node that starts on what a killed node has in its journal. */
function fromMemory(chain: PoolChain, segments: ReadonlyMap<number, readonly JournalRecord[]>): TxPool {
  const left = new Map([...segments].map(([segment, records]) => [segment, [...records]]))
  const pool = chain.pool({}, { journal: createMemoryJournal(left) })
  pool.restore()?.finish()
  return pool
}

/** A clock on which the time of a step is over after nine transactions; the next step waits for `next`. */
function slowClock() {
  const steps: (() => void)[] = []
  let reads = 0
  const clock: TxPoolDeps['clock'] = {
    elapsedMs: () => reads++,
    after(_ms, run): Disposable {
      steps.push(run)
      return { [Symbol.dispose]: (): void => void steps.splice(steps.indexOf(run), 1) }
    },
  }
  return { clock, next: (): void => steps.shift()?.() }
}

it('txpool/poolJournal: restores in steps, takes other transactions meanwhile, and keeps all of the journal until the end', () => {
  const segments = new Map<number, JournalRecord[]>()
  const chain = new PoolChain()
  chain.pool({}, { journal: createMemoryJournal(segments) }).add(many(60))
  const { clock, next } = slowClock()
  const again = chain.pool({}, { journal: createMemoryJournal(segments), clock })
  using restore = again.restore()
  expect(again.size().pending).toBe(9)
  expect(again.add([poolTransaction(7)])).toMatchObject([{ kind: 'added' }])
  next()
  expect([again.size().pending, restore?.isOver]).toEqual([19, false])
  expect(names(fromMemory(chain, segments))).toHaveLength(61)
  for (let steps = 0; steps < 7; steps++) next()
  expect([again.size().pending, restore?.isOver]).toEqual([61, true])
  expect(names(fromMemory(chain, segments))).toHaveLength(61)
})

it('txpool/poolJournal: a read of a transaction restores the rest first; a stop in between keeps the journal', () => {
  const segments = new Map<number, JournalRecord[]>()
  const chain = new PoolChain()
  chain.pool({}, { journal: createMemoryJournal(segments) }).add(many(60))
  const stopped = chain.pool({}, { journal: createMemoryJournal(segments), clock: slowClock().clock })
  stopped.restore()?.[Symbol.dispose]()
  expect(stopped.size().pending).toBe(9)
  const again = chain.pool({}, { journal: createMemoryJournal(segments), clock: slowClock().clock })
  again.restore()
  expect(again.nextNonce(poolAccount(1))).toBe(60n)
  expect(names(again)).toHaveLength(60)
})

it('txpool/poolJournal: transactions that cannot be checked at a start stay in the journal, with one warning', () => {
  const segments = new Map<number, JournalRecord[]>()
  const chain = new PoolChain()
  chain.pool({}, { journal: createMemoryJournal(segments) }).add(many(20))
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: string): void => void warnings.push(message) }
  const view = (): never => {
    throw new Error('the view lacks account')
  }
  const lacking = chain.pool({}, { journal: createMemoryJournal(segments), view, log })
  lacking.restore()?.finish()
  expect([lacking.size(), warnings]).toEqual([{ pending: 0, queued: 0 }, [expect.stringContaining('not restored')]])
  expect(names(fromMemory(chain, segments))).toHaveLength(20)
})
