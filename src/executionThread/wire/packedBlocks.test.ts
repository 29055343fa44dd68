import { expect, it } from 'vitest'
import { packBytes, unpackBytes } from '#lib/packedBytes'
import { scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { hashHeader } from '#types/header'
import type { Payload, PayloadAttributes } from '#types/payload'
import { packAttributes, packBlock, packPayload, unpack, unpackBlock } from './packedBlocks.ts'

const { genesis, config } = smallChain(scheduleTo('jovian'))
const [built] = buildChain(config, builtGenesis({ genesis, config }), [[signedBy('alice', {}), signedBy('alice', { nonce: 1n })]])
const block = built?.block ?? expect.fail()

/** Copies a value as a port does. */
const sent = <T>(value: T): T => structuredClone(value)

it('executionThread/wire/packedBlocks: gives the other side the same header, receipts and trie nodes, and the very same diff', () => {
  const packed = packBlock(block)
  const there = unpackBlock(sent(packed))
  expect(there).toMatchObject({ hash: block.hash, header: block.header, executed: block.executed, transactions: block.transactions })
  expect(hashHeader(there.header)).toBe(block.hash)
  expect(there.transactionHashes).toEqual(block.executed.map(({ hash }) => hash))
  const { root, nodes, storageRoots } = there.trie
  expect({ root, nodes, storageRoots }).toEqual(block.trie)
  expect([...there.diff.accounts()]).toEqual([...block.diff.accounts()])
  expect(packed.diff).toBe(block.diff.bytes)
})

it.each([
  ['no strings', []],
  ['an empty string', [new Uint8Array(0)]],
  ['several strings, some empty', [Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3), new Uint8Array(0)]],
])('executionThread/wire/packedBlocks: packs and unpacks %s', (_case, list) => {
  expect(unpackBytes(sent(packBytes(list)))).toEqual(list)
})

it('executionThread/wire/packedBlocks: sends a part of a large buffer without the rest', () => {
  const large = new Uint8Array(1_000_000)
  const transactions = [large.subarray(10, 20), large.subarray(500, 600)]
  const payload = { blockNumber: 7, logsBloom: large.subarray(0, 256), transactions } as unknown as Payload
  const attributes = { timestamp: 5, eip1559Params: large.subarray(8, 16), transactions } as unknown as PayloadAttributes
  const [packedPayload, packedAttributes] = [packPayload(payload), packAttributes(attributes)]
  for (const { transactions: packed } of [packedPayload, packedAttributes]) expect(packed.bytes.buffer.byteLength).toBe(110)
  expect(packedPayload.logsBloom.buffer.byteLength).toBe(256)
  expect(packedAttributes.eip1559Params?.buffer.byteLength).toBe(8)
  expect([unpack(sent(packedPayload)), unpack(sent(packedAttributes))]).toEqual([payload, attributes])

  const [log] = [{ address: block.header.beneficiary, topics: [], data: large.subarray(3, 9) }]
  const executed = block.executed.map((one) => ({ ...one, receipt: { ...one.receipt, logs: [log] } }))
  const packed = packBlock({ ...block, executed, header: { ...block.header, extraData: large.subarray(0, 17) } })
  expect(packed.header.extraData.buffer.byteLength).toBe(17)
  expect(packed.executed.buffer.byteLength).toBeLessThan(10_000)
})

it("executionThread/wire/packedBlocks: unpacks into bytes of the reader's own, except the diff, because some functions reject shared bytes", () => {
  const there = unpackBlock(sent(packBlock(block)))
  const { receipt } = there.executed[1] ?? expect.fail()
  const all = [there.header.logsBloom, receipt.logsBloom, ...there.transactions, ...[...there.trie.nodes].map(({ path }) => path)]
  expect(new Set(all.map(({ buffer }) => buffer.constructor))).toEqual(new Set([ArrayBuffer]))
})
