import { describe, expect, it } from 'vitest'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import { concatBytes } from '#lib/bytes'
import { writePruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { testAddress } from '#test/harness/evm/sessions'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { L2Ref } from '#types/blockRef'
import { LogMatcher } from '#types/logMatcher'
import { createReceipt, encodeReceipt } from '#types/receipt'
import { hashTransaction } from '#types/transaction'
import { BlockTree } from '../blockTree.ts'
import { blockKey, encodeRow } from '../chainRows.ts'
import { commitBranch, commitGenesis } from '../commit/commit.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import { createChainView } from './chainView.ts'

const chain = smallChain(scheduleTo('isthmus'))
const { config } = chain
const base = builtGenesis(chain)
const transactions = [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce, value: 10n }))
const blocks = buildChain(
  config,
  base,
  transactions.map((raw) => [raw]),
).map(({ block }) => block) as [ExecutedBlock, ExecutedBlock, ExecutedBlock]
const idOf = ({ hash, header }: ExecutedBlock) => ({ hash, number: header.number })
const refOf = (block: ExecutedBlock): L2Ref => l2RefOf(config, payloadOfBlock(block, block.hash))
const genesisId = idOf(base.block)
const logs = [0x98, 0x99].map((emitter) => ({ address: testAddress(emitter), topics: [], data: Uint8Array.of(emitter) }))
/** The second block with logs added. */
const loud: ExecutedBlock = {
  ...blocks[1],
  executed: blocks[1].executed.map((each, index) => (index === 1 ? { ...each, receipt: createReceipt({ ...each.receipt, logs }) } : each)),
}

/** Makes a store with the first `count` blocks. */
function storeWith(count: number) {
  const kv = createMemoryKv()
  kv.write((tx) => commitGenesis(tx, base.block))
  const head = blocks[count - 1] ?? base.block
  kv.write((tx) => commitBranch(tx, genesisId, { ancestor: genesisId, blocks: blocks.slice(0, count) }, heads(head), 1))
  return kv
}
const heads = (unsafe: ExecutedBlock) => ({ unsafe: refOf(unsafe), safe: refOf(base.block), finalized: refOf(base.block) })

/** Makes a record whose base is the first `count` blocks and whose head is the last block. */
const recordAbove = (count: number): HeadRecord => ({
  heads: heads(blocks[2]),
  committed: idOf(blocks[count - 1] ?? base.block),
  base: idOf(blocks[count - 1] ?? base.block),
  overlays: blocks.slice(count),
})
const viewOf = (count: number, record: HeadRecord) => createChainView(storeWith(count).snapshot(), config, record)

describe('blockchain/view/chainView', () => {
  it.each([
    ['as recorded', 0, 1, [0, 1]],
    ['up to the base, while the store has replaced blocks above it', 0, 3, [0, 1]],
    ['none, when all recorded blocks are replaced', 2, 3, undefined],
  ])('names the recorded states %s', (_, earliest, latest, expected) => {
    const [store, record] = [storeWith(3), recordAbove(1)]
    const replacing: HeadRecord = { ...record, committed: idOf(blocks[2]), overlays: [] }
    const older = () => ({ window: { earliest, latest }, at: () => expect.fail('no state is read'), [Symbol.dispose]() {} })
    using view = createChainView(store.snapshot(), config, replacing, { older })
    const window = view?.proofs?.window
    expect(window && [window.earliest, window.latest].map(({ number }) => number)).toEqual(expected)
    if (expected) expect(window?.latest.hash).toBe(blocks[0].hash)
  })

  it.each([
    ['only genesis is committed', 0, 0],
    ['one block is committed', 1, 1],
    ['a commit has overtaken the record', 2, 1],
    ['a commit has overtaken all of the record', 3, 1],
    ['everything is committed', 3, 3],
  ])('answers the same when %s', (_case, committed, recorded) => {
    const view = viewOf(committed, recordAbove(recorded))
    expect(view?.heads.latest).toEqual(idOf(blocks[2]))
    expect([0, 1, 2, 3, 4].map((number) => view?.canonicalHash(number))).toEqual([
      genesisId.hash,
      ...blocks.map(({ hash }) => hash),
      undefined,
    ])
    for (const [index, block] of blocks.entries()) {
      const raw = transactions[index] as Uint8Array
      expect(view?.transaction(hashTransaction(raw))).toEqual({ block: idOf(block), index: 1 })
      expect(view?.header(block.hash)).toEqual(block.header)
      expect(view?.block(block.hash)?.block).toEqual({ header: block.header, transactions: block.transactions })
      expect(view?.block(block.hash)?.senders).toEqual(block.executed.map(({ sender }) => sender))
      expect(view?.receipts(block.hash)?.map(({ receipt }) => receipt)).toEqual(block.executed.map(({ receipt }) => receipt))
      expect(view?.state(idOf(block))?.account(testAddress(0x77))?.balance).toBe(10n * BigInt(index + 1))
      expect(view?.parent(block.hash)?.state.view.blockHash(block.header.number - 1)).toBe(block.header.parentHash)
    }
  })

  it('returns undefined for a record that names neither the committed head nor a block on it', () => {
    expect(viewOf(1, recordAbove(2))).toBeUndefined()
  })

  it('keeps the blocks of its record when the tree of blocks drops them', () => {
    const tree = new BlockTree(2 ** 20)
    for (const block of blocks) tree.add(block)
    const view = createChainView(storeWith(1).snapshot(), config, recordAbove(1), { executed: tree })
    expect(view?.block(blocks[2].hash)?.block.header).toEqual(blocks[2].header)
    tree.dropUpTo(3)
    expect(tree.get(blocks[1].hash)).toBeUndefined()
    expect(view?.block(blocks[1].hash)?.block.header).toEqual(blocks[1].header)
    expect(view?.receipts(blocks[1].hash)).toHaveLength(blocks[1].executed.length)
    expect(view?.branch(blocks[2].hash)?.blocks).toEqual(blocks.slice(1))
  })

  it.each(['committed', 'in memory', 'written by schema 2, without timestamp and hashes'])(
    'returns matching logs with their place: a block %s',
    (where) => {
      const isCommitted = where !== 'in memory'
      const kv = storeWith(1)
      if (isCommitted) kv.write((tx) => commitBranch(tx, idOf(blocks[0]), { ancestor: idOf(blocks[0]), blocks: [loud] }, heads(loud), 2))
      const old = loud.executed.map(({ receipt }) => concatBytes(new Uint8Array(12), encodeReceipt(receipt)))
      if (where.includes('schema 2')) kv.write((tx) => tx.put(tables.receipts.id, blockKey(idOf(loud)), encodeRow(old)))
      const record = { ...recordAbove(isCommitted ? 2 : 1), heads: heads(loud), overlays: isCommitted ? [] : [loud] }
      const view = createChainView(kv.snapshot(), config, record)
      const block = { hash: loud.hash, number: 2, timestamp: loud.header.timestamp }
      const transactionHash = hashTransaction(transactions[1] as Uint8Array)
      const matcher = new LogMatcher({ addresses: [testAddress(0x99)], topics: [] })
      expect(view?.logsAt(2, [0, 1], matcher)).toEqual([{ log: logs[1], block, transactionHash, transactionIndex: 1, logIndex: 1 }])
      expect(view?.logsAt(2, [0], matcher)).toEqual([])
      expect(() => view?.logsAt(2, [7], matcher)).toThrow(RangeError)
      expect(view?.logsAt(9, [0], matcher)).toBeUndefined()
    },
  )

  it('proves an account of any retained block under the root of that block', () => {
    const view = viewOf(2, recordAbove(2))
    for (const block of blocks) {
      const proved = view?.state(idOf(block))?.prove(testAddress(0x77), [])
      expect(proved?.account?.balance).toBe(10n * BigInt(block.header.number))
      expect(proved?.proof.length).toBeGreaterThan(0)
    }
  })

  it('has no logs below the oldest body, which has the milliseconds of their time', () => {
    const kv = storeWith(3)
    kv.write((tx) => writePruned(tx, tables.bodies.id, 2))
    using view = createChainView(kv.snapshot(), config, recordAbove(3))
    expect([view?.oldestBlock, view?.oldestLogs]).toEqual([2, 2])
  })

  it('answers undefined for an unknown block', () => {
    const view = viewOf(2, recordAbove(2))
    const unknown = { number: 1, hash: base.block.header.parentHash }
    expect([view?.header(unknown.hash), view?.block(unknown.hash), view?.receipts(unknown.hash), view?.state(unknown)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('has no fees in a block without L1 attributes', () => {
    const view = viewOf(2, recordAbove(2))
    expect(view?.receipts(genesisId.hash)).toEqual([])
    expect(view?.receipts(blocks[0].hash)?.[1]?.fees).toMatchObject({ l1Fee: 0n, l1GasPrice: 7n })
  })
})
