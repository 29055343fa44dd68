import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readBlock, readCanonicalHash, readHeader, readHeads, readLocation, readReceipts } from '#blockchain/chainStore'
import { checkBlocks } from '#blockchain/check/blockCheck'
import { commitBranch, commitGenesis } from '#blockchain/commit/commit'
import { buildSegments, type SegmentBuilder } from '#blockchain/segments/buildSegments'
import { RowPruner, type RowRetention, retainAllRows } from '#blockchain/segments/rowPruner'
import type { SegmentBounds } from '#blockchain/segments/segmentCut'
import { type MoverStep, SegmentMover } from '#blockchain/segments/segmentMover'
import { bytesFromBigint } from '#lib/bytes'
import { type Log, logTo, silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv } from '#store/ports'
import type { Difference } from '#store/rowCheck'
import { blockTables, readPruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'

export const bounds: SegmentBounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 3_600 }
/** LOG1 without data, the first word of the calldata as its topic */
const contract = testAddress(0x55)
export const chain = smallChain(scheduleTo('isthmus'), [testAccount(contract, { nonce: 1n, code: '0x5f355f5fa100' })])
export const genesis = builtGenesis(chain)
export const blocks = buildChain(
  chain.config,
  genesis,
  Array.from({ length: 40 }, (_, at) => [
    signedBy('alice', { nonce: BigInt(at), to: contract, gasLimit: 100_000n, data: bytesFromBigint(BigInt(at % 7), 32) }),
  ]),
).map(({ block }) => block)

export function store(dir: string): Kv {
  const kv = openChainKv(dir)
  kv.write((tx) => commitGenesis(tx, genesis.block))
  grow(kv, 1, blocks.length)
  return kv
}

/** Commits blocks and finalizes up to five blocks below the last. */
export function grow(kv: Kv, from: number, to: number): void {
  kv.write((tx) => {
    const head = readHeads(tx)?.unsafe
    if (head === undefined) expect.fail()
    const added = blocks.slice(from - 1, to)
    const idAt = (number: number) => ({ number, hash: blocks[number - 1]?.hash ?? genesis.block.hash })
    const [unsafe, finalized] = [idAt(to), idAt(Math.max(0, to - 5))]
    commitBranch(tx, head, { ancestor: head, blocks: added }, { unsafe, safe: finalized, finalized }, to)
  })
}

/** Builds in this thread. */
export function builderOn(kv: Kv, { fails, onEffect }: Rig): SegmentBuilder {
  return {
    async build(request) {
      const failure = fails?.()
      if (failure) throw failure
      return buildSegments(kv, request, undefined, onEffect)
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** `fails`: returns the error of a build. `onEffect`: called after each step of a file and of the mover. `minFreeBytes`: absent: none */
type Rig = {
  readonly rows?: RowRetention
  readonly fails?: () => Error | undefined
  readonly onEffect?: () => void
  readonly onStep?: (step: MoverStep) => void
  readonly log?: Log
  readonly minFreeBytes?: number
}

export function moverOn(dir: string, kv: Kv, rig: Rig = {}) {
  const { rows = retainAllRows, onEffect, onStep, log = silentLog, minFreeBytes = 0 } = rig
  const clock = createManualClock()
  const files = { kv, clock, log, dir: segmentsDir(dir) }
  const pruner = new RowPruner({ ...files, retention: rows })
  const mover = new SegmentMover({
    ...files,
    builder: builderOn(kv, rig),
    pruner,
    minFreeBytes,
    bounds,
    onStep(step): void {
      onEffect?.()
      onStep?.(step)
    },
  })
  const run = async (): Promise<void> => {
    mover.committed()
    await clock.advanceMs(1_000)
    await clock.advanceMs(1_000)
  }
  /** Lets the time pass until files without a record are removed. */
  const settle = async (): Promise<void> => {
    await run()
    await clock.advanceMs(60_000)
    await run()
  }
  return { mover, clock, run, settle }
}

/** Everything that readers of the chain see of all blocks. */
export function seen(kv: Kv): unknown[] {
  using reader = kv.snapshot()
  return Array.from({ length: 41 }, (_, number) => {
    const hash = readCanonicalHash(reader, number)
    const id = hash && { number, hash }
    return id && { header: readHeader(reader, id), block: readBlock(reader, id), receipts: readReceipts(reader, id) }
  })
}

/** Returns the retained blocks with a transaction that has no place. */
export function lostPlaces(kv: Kv): number[] {
  using reader = kv.snapshot()
  const retained = blocks.filter(({ header: { number } }) => number >= readPruned(reader, tables.bodies.id))
  return retained.filter(({ executed }) => executed.some(({ hash }) => !readLocation(reader, hash))).map(({ header }) => header.number)
}

/** Returns the tables in which a verification finds differences. */
export function differencesOf(kv: Kv): string[] {
  using reader = kv.snapshot()
  const found: string[] = []
  const watch = { hasTime: () => true, onRow() {}, report: ({ table, key }: Difference) => void found.push(`${table} ${key}`) }
  checkBlocks(reader, { from: 0, head: 40, source: kv }, watch)
  return found
}

/** Returns the file of a table that begins at a block. */
export function fileOf(dir: string, table: string, first: number): string {
  const name = readdirSync(segmentsDir(dir)).find((each) => each.startsWith(`${table}-${String(first).padStart(12, '0')}`))
  return join(segmentsDir(dir), name ?? expect.fail())
}

/** Log that keeps its warnings and errors. */
export function keptLog(): { readonly log: Log; readonly lines: unknown[] } {
  const lines: unknown[] = []
  const log = logTo(
    (level, message, fields) => {
      if (level === 'warn' || level === 'error') lines.push({ level, message, ...fields })
    },
    () => log,
  )
  return { log, lines }
}

/** Returns the number of rows of blocks in the tables. */
export const rowCount = (kv: Kv): number => {
  using reader = kv.snapshot()
  return blockTables.reduce((sum, { id }) => sum + [...reader.keys(id, {})].length, 0)
}

/** Copies a data directory as a kill at this instant leaves it. */
export function killed(dir: string, copy: string): string {
  cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('lock.mdb') })
  return copy
}
