// Pruning beside commits at the size of a block of 8 Mgas, without execution: each block changes 200 accounts, 410 slots and 1,040 trie nodes. After each
// transaction of four blocks the pruner has the time that is due at any rate of blocks, and no more. Figures: processor time of a block's rows and of
// their removal, and of each step, blocks beyond the retention at the end, and size of the file when the retention is reached and at the end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { putHeads } from '#blockchain/chainStore'
import { Pruner } from '#blockchain/pruning/pruner'
import { systemClock } from '#lib/clock'
import { keccak256 } from '#lib/keccak'
import { writeGenesis, writeState } from '#state/chainState'
import { firstChanges } from '#state/pruneHistory'
import { environmentStats } from '#store/environmentStats'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { encodeBranch, type NodeRef } from '#trie/node'
import { emptyCodeHash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { distribution, type Row, row } from '../format.ts'

const perBlock = { accounts: 200, slots: 410, nodes: 1_040 }
/** Numbers from which a block takes its accounts, slots and nodes. */
const world = { accounts: 30_000, slots: 100_000, nodes: 60_000 }
const perTransaction = 4
const keptBlocks = 400

const roll = dice(1)
const keyOf = (number: number): Uint8Array => keccak256(Buffer.from(String(number)))
const distinct = (count: number, below: number): number[] => {
  const numbers = new Set<number>()
  while (numbers.size < count) numbers.add(roll(below))
  return [...numbers]
}

function anyDiff(number: number): StateDiff {
  const change = { nonce: BigInt(number), balance: BigInt(roll(2 ** 31)), codeHash: emptyCodeHash }
  return createStateDiff({
    accounts: distinct(perBlock.accounts, world.accounts).map((account) => ({ key: keyOf(account), change, wiped: false })),
    slots: distinct(perBlock.slots, world.slots).map((slot) => {
      return { addressKey: keyOf(slot % 1_000), slotKey: keyOf(slot), value: keyOf(number) }
    }),
    codes: [],
  })
}

/** Branches of a trie, each with its children. */
const branches = new Map<number, NodeRef[]>()
const anyChild = (): NodeRef => Buffer.concat([Buffer.of(0xa0), keyOf(roll(2 ** 31))])

function anyNodes(): { owner: undefined; path: Uint8Array; node: Uint8Array }[] {
  return distinct(perBlock.nodes, world.nodes).map((number) => {
    const children = branches.get(number) ?? Array.from({ length: 16 }, anyChild)
    branches.set(number, children)
    children[roll(16)] = anyChild()
    const path = Uint8Array.from(Buffer.from(number.toString(16).padStart(5, '0')), (digit) => digit & 15)
    return { owner: undefined, path, node: encodeBranch(children) }
  })
}

/** Collects the garbage of the blocks that the bench makes, which is no work of a step. */
const { gc: collect } = globalThis as { readonly gc?: (options: { readonly type: 'major'; readonly execution: 'sync' }) => void }

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Writes blocks, all but the last hundred of them finalized. @returns milliseconds of the thread, without those that make the rows */
function commit(kv: Kv, first: number, count: number): number {
  const blocks = Array.from({ length: count }, (_, i) => ({ diff: anyDiff(first + i), nodes: anyNodes() }))
  const idAt = (number: number) => ({ number, hash: hashFromBytes(keyOf(number)) })
  const [head, finalized] = [idAt(first + count - 1), idAt(Math.max(0, first + count - 101))]
  const startMs = cpuMs()
  kv.write((tx) => {
    for (const [i, { diff, nodes }] of blocks.entries()) writeState(tx, first + i, diff, { nodes, storageRoots: new Map() })
    putHeads(tx, { unsafe: head, safe: finalized, finalized }, first)
  })
  return cpuMs() - startMs
}

/** @param blocks written after the retention is reached; default 800 */
export async function run({ blocks = 800 }: { readonly blocks?: number }): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-bench-prune-'))
  try {
    await using kv = openLmdbKv(dir, Object.values(tables))
    kv.write((tx) => writeGenesis(tx, createStateDiff({ accounts: [], slots: [], codes: [] }), { nodes: [], storageRoots: new Map() }))
    const stepMs: number[] = []
    let due: (() => void) | undefined
    const clock = {
      elapsedMs: () => systemClock.elapsedMs(),
      // a step with a pause is not due
      after(ms: number, begin: () => void): Disposable {
        if (ms === 0) due = begin
        return { [Symbol.dispose](): void {} }
      },
    }
    const onEvent: ConstructorParameters<typeof Pruner>[0]['onEvent'] = (event) => {
      if ('error' in event) throw event.error
    }
    let [commitMs, pruneMs, head, reachedBytes] = [0, 0, 0, 0]
    const pruner = (): Pruner => new Pruner({ kv, clock, retention: { history: { blocks: keptBlocks } }, onEvent })
    let current = pruner()
    while (head < keptBlocks + blocks) {
      const ms = commit(kv, head + 1, perTransaction)
      head += perTransaction
      collect?.({ type: 'major', execution: 'sync' })
      // a paused pruner keeps its timer
      current[Symbol.dispose]()
      current = pruner()
      const startMs = cpuMs()
      current.committed(ms)
      for (let step = due; step; step = due) {
        due = undefined
        const stepStartMs = cpuMs()
        step()
        stepMs.push(cpuMs() - stepStartMs)
      }
      if (head > keptBlocks) {
        commitMs += ms
        pruneMs += cpuMs() - startMs
      }
      if (head === keptBlocks + 200) reachedBytes = environmentStats(dir).usedBytes
      await new Promise((resolve) => setImmediate(resolve))
    }
    using reader = kv.snapshot()
    const beyond = head - keptBlocks - firstChanges(reader) + 1
    const usedBytes = environmentStats(dir).usedBytes
    return [
      distribution('processor time of a step', 'ms', stepMs),
      row('processor time of a block: commit', 'ms', [commitMs / blocks]),
      row('processor time of a block: pruning', 'ms', [pruneMs / blocks]),
      row('blocks beyond the retention at the end', 'blocks', [beyond]),
      row('file 200 blocks after the retention is reached', 'MB', [reachedBytes / 1e6]),
      row('file at the end', 'MB', [usedBytes / 1e6]),
    ]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
