import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { pruneHistory } from '#state/pruneHistory'
import { openLmdbKv } from '#store/lmdbKv'
import type { KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { storedChain } from '#test/harness/store/storedChain'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-verify-pruned-'))
const pruned = join(base, 'pruned')
const head = 24
const kept = { values: 5, nodes: 15 }
let copies = 0
beforeAll(async () => {
  await storedChain(pruned, head)
  await write(pruned, (tx) => void pruneHistory(tx, kept, () => true))
}, 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function write(datadir: string, change: (tx: KvWriter) => void): Promise<void> {
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  kv.write(change)
}

/** Verifies a copy of the pruned database after a change. */
async function verified(change: (tx: KvWriter) => void = () => {}) {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(pruned, datadir, { recursive: true })
  await write(datadir, change)
  const seen: { readonly rows: number; readonly total: number }[] = []
  const onProgress = (progress: (typeof seen)[number]): void => void seen.push(progress)
  const result = await verifyDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress }, { datadir, runMs: 60_000 })
  return { ...result, last: seen.at(-1) }
}

it('database/verify: checks changes down to the oldest state, also without trie nodes, and counts the rows of all phases', async () => {
  const { done, differences, checked, last } = await verified()
  expect([done, differences, checked.history]).toEqual([true, [], head - kept.values])
  expect(last?.rows).toBe(last?.total)
})

/** Changes of the blocks without trie nodes. */
const changesIn = (tx: KvWriter) => [...tx.range(tables.changes.id, { from: u64Bytes(kept.values + 1), to: u64Bytes(kept.nodes + 1) })]

it.each<[string, string, (tx: KvWriter) => void]>([
  [
    'a change with another key',
    'changes',
    (tx) => {
      const [{ key, value }] = changesIn(tx) as [{ key: Uint8Array; value: Uint8Array }]
      tx.delete(tables.changes.id, key)
      tx.put(tables.changes.id, concatBytes(key, Uint8Array.of(1)), value)
    },
  ],
  [
    'missing changes of a block',
    'historyIndex',
    (tx) => {
      for (const { key } of changesIn(tx)) tx.delete(tables.changes.id, key)
    },
  ],
])('database/verify: names below the oldest trie nodes %s', async (_kind, table, change) => {
  expect((await verified(change)).differences).toContainEqual(expect.objectContaining({ table }))
})

it.each(['state.oldestNodes', 'pruned.headers', 'pruned.bodies', 'pruned.receipts', 'logs.pruned', 'logs.index'])(
  'database/verify: names the mark %s when it leaves out blocks that should be checked',
  async (mark) => {
    const key = new TextEncoder().encode(mark)
    const { differences } = await verified((tx) => {
      if (mark === 'logs.index') tx.delete(tables.meta.id, key)
      else tx.put(tables.meta.id, key, u64Bytes(head + 2))
    })
    expect(differences).toContainEqual(expect.objectContaining({ table: 'meta', key: `0x${Buffer.from(mark).toString('hex')}` }))
  },
)
