import { expect, it } from 'vitest'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import { parseAddress } from '#types/ids'
import { readIndexMark } from './logIndex.ts'

/** Reduces a store to the form of a version without a log index. */
function withoutIndex(disk: Disk): void {
  disk.inner.write((tx) => {
    for (const key of [...tx.keys(tables.logIndex.id, {})]) tx.delete(tables.logIndex.id, key)
    tx.delete(tables.meta.id, new TextEncoder().encode('logs.index'))
    tx.put(tables.meta.id, new TextEncoder().encode('schema'), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1))
  })
}

it('blockchain/logIndex/olderLogs: indexes the store of an earlier version with the commits that follow', async () => {
  const disk = new Disk()
  const first = startCommitting(disk)
  const refs = await first.grow(genesisId, 5)
  await first.setUnsafe(refs.at(-1))
  first.execution.commit()
  await first.execution.close()
  withoutIndex(disk)
  expect(agreeOnSchema(disk, chainSchema)).toEqual([
    'log index',
    'receipts with hashes',
    'trie nodes of a block in one row',
    'segments of finalized blocks',
    'index of changed rows in runs',
    'short rows of trie nodes',
    'deletions in changes',
    'long values in pieces',
    'digests with a key',
    'checksums of rows',
    'log index in slices',
  ])

  const { execution, grow, setUnsafe } = startCommitting(disk)
  const wanted = { addresses: [parseAddress(`0x${'42'.repeat(20)}`)], topics: [] }
  const search = () => {
    using view = execution.view()
    return view.findLogs(wanted, 0, view.heads.latest.number)
  }
  expect(search()).toEqual({ kind: 'unindexed', next: 6 })
  const [next] = await grow(execution.published.heads.unsafe, 1)
  await setUnsafe(next)
  expect(search()).toMatchObject({ kind: 'unindexed' })
  execution.commit()
  using reader = disk.snapshot()
  expect(readIndexMark(reader)?.from).toBe(0)
  expect(search()).toEqual({ kind: 'found', places: [], next: 7 })
})
