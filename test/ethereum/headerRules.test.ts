import { expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, encodeRlp } from '#lib/rlp'
import { headerOf } from '#test/harness/chain/headers'
import type { Block } from '#types/block'
import { encodeHeader } from '#types/header'
import { emptyRequestsHash, emptyRoot, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import { ethereumBaseFee, ethereumRefusal } from './headerRules.ts'
import type { EthereumSchedule } from './schedule.ts'

const schedule: EthereumSchedule = {
  blocks: { homestead: 0, byzantium: 0, london: 5, paris: 10 },
  times: { shanghai: 200, cancun: 300, prague: 400, osaka: 500 },
  blobs: { cancun: { target: 3, max: 6, updateFraction: 3_338_477n } },
  forkIdBlocks: [5, 10],
  depositContract: zeroAddress,
}
const { baseFeePerGas: _, ...old } = headerOf({ gasLimit: 1_024_000n, difficulty: 131_072n })
const oldParent = { ...old, number: 3, timestamp: 30 }
const work: Block = { header: { ...old, number: 4, timestamp: 40 }, transactions: [], ommers: [] }
const mergedParent = headerOf({ number: 49, timestamp: 490, gasLimit: 1_024_000n })
const osaka: Block = {
  header: {
    ...mergedParent,
    ...{ number: 50, timestamp: 500, withdrawalsRoot: emptyRoot, blobGasUsed: 0n, excessBlobGas: 0n },
    ...{ parentBeaconBlockRoot: zeroHash, requestsHash: emptyRequestsHash },
  },
  transactions: [],
  ommers: [],
  withdrawals: [],
}
const changed = (block: Block, fields: Partial<Block['header']>): Block => ({ ...block, header: { ...block.header, ...fields } })
const without = (block: Block, name: keyof Block['header']): Block => ({
  ...block,
  header: Object.fromEntries(Object.entries(block.header).filter(([key]) => key !== name)) as Block['header'],
})

it('ethereum/headerRules: accepts a proof-of-work block and an Osaka block', () => {
  expect(ethereumRefusal(schedule, oldParent, work)).toBeUndefined()
  expect(ethereumRefusal(schedule, mergedParent, osaka)).toBeUndefined()
})

it.each([
  ['a wrong number', changed(osaka, { number: 51 }), 'number is 51, 50 expected'],
  ['the time of its parent', changed(osaka, { timestamp: 490 }), 'timestamp 490 is not after'],
  ['a gas limit higher by a 1024th', changed(osaka, { gasLimit: 1_025_000n }), 'gas limit 1025000 is too far'],
  ['no requests', without(osaka, 'requestsHash'), 'requestsHash is missing'],
  ['no blob gas', without(osaka, 'blobGasUsed'), 'blobGasUsed is missing'],
  ['a difficulty after the merge', changed(osaka, { difficulty: 1n }), 'difficulty 1 after the merge'],
  ['a nonce after the merge', changed(osaka, { nonce: new Uint8Array(8).fill(1) }), 'a nonce after the merge'],
  ['33 bytes of extra data', changed(osaka, { extraData: new Uint8Array(33) }), 'extra data of 33 bytes'],
  ['ommers that its header does not name', { ...osaka, ommers: [work.header] }, 'ommersHash is'],
  ['more than 8 MiB', { ...osaka, transactions: [new Uint8Array(8_388_608)] }, 'the block has more than 8388608 bytes'],
])('ethereum/headerRules: refuses a block with %s', (_what, block, reason) => {
  expect(ethereumRefusal(schedule, mergedParent, block)).toContain(reason)
})

it('ethereum/headerRules: refuses a base fee before London, and withdrawals before Shanghai', () => {
  expect(ethereumRefusal(schedule, oldParent, changed(work, { baseFeePerGas: 1n }))).toBe('baseFeePerGas is present before london')
  expect(ethereumRefusal(schedule, oldParent, { ...work, withdrawals: [] })).toBe(
    'the block must have withdrawals and withdrawalsRoot, or neither',
  )
})

it.each([
  [14, undefined],
  [13, 'an ommer is not 1 to 6 blocks below the block'],
  [20, 'an ommer is not 1 to 6 blocks below the block'],
])('ethereum/headerRules: checks the distance of ommer %i from block 20: %s', (number, refusal) => {
  const homestead = { ...schedule, blocks: { homestead: 0 } }
  const ommers = [{ ...old, number }]
  const ommersHash = hashFromBytes(keccak256(encodeRlp([decodeRlp(encodeHeader({ ...old, number }))])))
  const block = { ...changed(work, { number: 20, ommersHash }), ommers }
  expect(ethereumRefusal(homestead, { ...oldParent, number: 19 }, block)).toBe(refusal)
})

it('ethereum/headerRules: begins London with a base fee of 1 gwei and twice the gas limit', () => {
  const parent = { ...oldParent, number: 4, timestamp: 40 }
  expect(ethereumBaseFee(schedule, oldParent, 40)).toBeUndefined()
  expect(ethereumBaseFee(schedule, parent, 50)).toBe(1_000_000_000n)
  const first = changed(work, { number: 5, timestamp: 50, gasLimit: 2_048_000n, baseFeePerGas: 1_000_000_000n })
  expect(ethereumRefusal(schedule, parent, first)).toBeUndefined()
  expect(ethereumBaseFee(schedule, { ...first.header, gasUsed: 2_048_000n }, 60)).toBe(1_125_000_000n)
})
