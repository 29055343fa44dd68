import { expect, it } from 'vitest'
import { tables } from '#store/tables'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashTransaction } from '#types/transaction'
import {
  dropCanonicalBlock,
  putCanonicalBlock,
  putGenesisId,
  putHeads,
  readBlock,
  readBlockId,
  readCanonicalHash,
  readGenesisId,
  readHeader,
  readHeads,
  readHeadsSequence,
  readLocation,
  readReceipts,
  readTransaction,
  readTransactions,
  storedReceipts,
} from './chainStore.ts'

const chain = smallChain(scheduleTo('ecotone'))
const transactions = [signedBy('alice', {}), signedBy('bob', {})]
const [built] = buildChain(chain.config, builtGenesis(chain), [transactions])
if (built === undefined) throw new Error('no block')
const { block } = built
const id = { number: 1, hash: block.hash }

it('blockchain/chainStore: reads a block back as a whole and in parts', () => {
  const kv = createMemoryKv()
  kv.write((tx) => putCanonicalBlock(tx, block))
  using reader = kv.snapshot()
  expect(readBlockId(reader, block.hash)).toEqual(id)
  expect(readCanonicalHash(reader, 1)).toBe(block.hash)
  expect(readHeader(reader, id)).toEqual(block.header)
  expect(readBlock(reader, id)).toEqual({ header: block.header, transactions: block.transactions })
  const senders = block.executed.map(({ sender }) => sender)
  expect(readTransactions(reader, id)?.map(({ sender }) => sender)).toEqual(senders)
  expect(readTransaction(reader, id, 2)).toEqual({ raw: block.transactions[2], sender: senders[2] })
  expect(readTransaction(reader, id, 3)).toBeUndefined()
  expect(storedReceipts(block)).toMatchObject(readReceipts(reader, id) ?? [])
  const hash = hashTransaction(transactions[1] as Uint8Array)
  expect(readLocation(reader, hash)).toEqual({ number: 1, index: 2 })
})

it('blockchain/chainStore: leaves no row of a dropped block', () => {
  const kv = createMemoryKv()
  kv.write((tx) => putCanonicalBlock(tx, block))
  kv.write((tx) => dropCanonicalBlock(tx, id))
  using reader = kv.snapshot()
  for (const { id: table } of Object.values(tables)) expect([...reader.range(table, {})]).toEqual([])
  expect(readBlockId(reader, block.hash)).toBeUndefined()
  expect(readCanonicalHash(reader, -1)).toBeUndefined()
})

it('blockchain/chainStore: has no heads when the store is empty; reads heads and genesis back', () => {
  const kv = createMemoryKv()
  {
    using reader = kv.snapshot()
    expect(readHeads(reader)).toBeUndefined()
    expect(readGenesisId(reader)).toBeUndefined()
  }
  const heads = { unsafe: { number: 3, hash: block.hash }, safe: id, finalized: { number: 0, hash: block.header.parentHash } }
  kv.write((tx) => {
    putHeads(tx, heads, 7)
    putGenesisId(tx, heads.finalized)
  })
  using reader = kv.snapshot()
  expect(readHeads(reader)).toEqual(heads)
  expect(readHeadsSequence(reader)).toBe(7)
  expect(readGenesisId(reader)).toEqual(heads.finalized)
})

it('blockchain/chainStore: stores with each receipt the number of logs before it in the block', () => {
  const log = { address: block.executed[0]?.sender ?? id.hash, topics: [], data: new Uint8Array(0) } as never
  const executed = block.executed.map((one, index) => ({ ...one, receipt: { ...one.receipt, logs: Array(index).fill(log) } }))
  expect(storedReceipts({ executed }).map(({ firstLogIndex }) => firstLogIndex)).toEqual([0, 0, 1])
})
