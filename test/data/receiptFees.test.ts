import { expect, it } from 'vitest'
import { l1FeeFacts } from '#block/fees/l1FeeFacts'
import { l1AttributesIn } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { fromHex } from '#lib/hex'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { decodeBlock } from '#types/block'

const quantities = [
  'l1GasPrice',
  'l1GasUsed',
  'l1Fee',
  'l1BaseFeeScalar',
  'l1BlobBaseFee',
  'l1BlobBaseFeeScalar',
  'operatorFeeScalar',
  'operatorFeeConstant',
  'daFootprintGasScalar',
  'blobGasUsed',
] as const

type Field = (typeof quantities)[number] | 'l1FeeScalar' | 'type' | 'blockNumber' | 'transactionIndex' | 'transactionHash'
type Recorded = { readonly [F in Field]?: string }

function factsOf(receipt: Recorded) {
  const known = quantities.flatMap((name) => (receipt[name] === undefined ? [] : [[name, BigInt(receipt[name])] as const]))
  const scalar = receipt.l1FeeScalar
  return { ...Object.fromEntries(known), ...(scalar !== undefined && { l1FeeScalar: BigInt(Math.round(Number(scalar) * 1e6)) }) }
}

function recordedReceipts(chain: string): readonly Recorded[] {
  return ['eth_getTransactionReceipt', 'eth_getBlockReceipts'].flatMap((method) =>
    readShared(`chains/${chain}/rpc/${method}.io.zst`)
      .toString('utf8')
      .split('\n')
      .filter((line) => line.startsWith('<<'))
      .flatMap((line) => JSON.parse(line.slice(3)).result ?? []),
  )
}

/** op-geth's receipts of deposits have no fees. */
it.each([
  ['op-bedrock-to-holocene', 'user', 159],
  ['op-ecotone-to-jovian', 'all', 195],
])('block/fees/l1FeeFacts: %s: computes L1 and operator fees of %s transactions as in the recorded receipts', (name, which, count) => {
  const { config } = parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`))
  const { blocks } = readSharedJson<{ blocks: { raw: string }[] }>(`chains/${name}/l2.json.zst`)
  const receipts = recordedReceipts(name).filter(({ type }) => which === 'all' || type !== '0x7e')
  for (const receipt of receipts) {
    const block = decodeBlock(fromHex(blocks[Number(receipt.blockNumber)]?.raw ?? '0x'))
    const raw = block.transactions[Number(receipt.transactionIndex)] ?? new Uint8Array(0)
    const facts = l1FeeFacts(config.schedule, block.header.timestamp, l1AttributesIn(block), raw)
    expect(facts, `${receipt.transactionHash}`).toEqual(factsOf(receipt))
  }
  expect(receipts.length).toBe(count)
})
