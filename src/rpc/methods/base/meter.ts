import { concatBytes } from '#lib/bytes'
import { fromHex, toHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { BlockId } from '#types/blockRef'
import { type BlockParam, blockNumberOrTag } from '../../codecs/blockId.ts'
import { bundle } from '../../codecs/bundle.ts'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidParams, RpcError } from '../../errors.ts'
import type { Json } from '../../json.ts'
import type { BlockMeter, Bundle, BundledTransaction, BundleMeter } from '../../meterPorts.ts'
import { type Method, param, type ResultCodec } from '../../registry.ts'
import { finished } from '../debug/tracing.ts'
import { ethMethod } from '../define.ts'
import { blockIdAt, ofHash, sealed } from '../eth/atBlock.ts'

type MeteredBlock = { readonly block: BlockId; readonly meter: BlockMeter }

async function meterBlock(context: EthContext, at: BlockParam): Promise<MeteredBlock> {
  const block = blockIdAt(context, sealed(at))
  const work = block && context.metering.block(block.hash)
  if (block === undefined || work === undefined) throw invalidParams('block not found')
  if (block.number === 0) throw invalidParams('the genesis block is not executed')
  const outcome = await finished(context, work)
  if (outcome.kind !== 'measured') throw new RpcError(-32603, `Block metering failed: ${outcome.reason}`)
  return { block, meter: outcome.value }
}

const blockMeterResult: ResultCodec<MeteredBlock> = {
  doc: '{blockHash, blockNumber, signerRecoveryTimeUs, executionTimeUs, stateRootTimeUs, totalTimeUs, transactions: [{txHash, gasUsed, executionTimeUs}]}, all numbers',
  schema: { type: 'object', required: ['blockHash', 'blockNumber', 'totalTimeUs', 'transactions'] },
  encode({ block, meter: { recoveryUs, executionUs, stateRootUs, transactions } }): Json {
    return {
      blockHash: block.hash,
      blockNumber: block.number,
      signerRecoveryTimeUs: recoveryUs,
      executionTimeUs: executionUs,
      stateRootTimeUs: stateRootUs,
      totalTimeUs: recoveryUs + executionUs + stateRootUs,
      transactions: transactions.map((tx) => ({ txHash: tx.hash, gasUsed: Number(tx.gasUsed), executionTimeUs: tx.executionUs })),
    }
  },
}

const meterBlockByHash = ethMethod({
  name: 'base_meterBlockByHash',
  doc: 'Re-executes a block and returns the execution time of its parts on this machine, in microseconds.',
  params: [param('hash', hash)],
  result: blockMeterResult,
  cost: 'trace',
  example: { params: [`0x${'11'.repeat(32)}`] },
  run: (context, of) => meterBlock(context, ofHash(of)),
})

const meterBlockByNumber = ethMethod({
  name: 'base_meterBlockByNumber',
  doc: 'Like base_meterBlockByHash, for a canonical block.',
  params: [param('block', blockNumberOrTag)],
  result: blockMeterResult,
  cost: 'trace',
  example: { params: ['latest'] },
  run: meterBlock,
})

const feesOf = ({ gasUsed, feeCap }: BundledTransaction): bigint => gasUsed * feeCap

function transactionResult(tx: BundledTransaction): Json {
  const fees = toQuantity(feesOf(tx))
  return {
    coinbaseDiff: fees,
    ethSentToCoinbase: '0x0',
    fromAddress: tx.from,
    gasFees: fees,
    gasPrice: toQuantity(tx.feeCap),
    gasUsed: Number(tx.gasUsed),
    toAddress: tx.to,
    txHash: tx.hash,
    value: toQuantity(tx.value),
    executionTimeUs: tx.executionUs,
  }
}

const bundleMeterResult: ResultCodec<BundleMeter> = {
  doc: '{bundleHash, bundleGasPrice, gasFees and coinbaseDiff (maximum, in wei), totalGasUsed, totalExecutionTimeUs, stateRootTimeUs, stateBlockNumber, results: one per transaction}',
  schema: { type: 'object', required: ['bundleHash', 'results', 'totalGasUsed'] },
  encode({ results, stateBlock, executionUs, stateRootUs }): Json {
    const gas = results.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
    const fees = toQuantity(results.reduce((sum, tx) => sum + feesOf(tx), 0n))
    return {
      bundleGasPrice: gas === 0n ? '0x0' : toQuantity(BigInt(fees) / gas),
      bundleHash: toHex(keccak256(concatBytes(...results.map((tx) => fromHex(tx.hash))))),
      coinbaseDiff: fees,
      ethSentToCoinbase: '0x0',
      gasFees: fees,
      results: results.map(transactionResult),
      stateBlockNumber: stateBlock,
      totalGasUsed: Number(gas),
      totalExecutionTimeUs: executionUs,
      stateRootTimeUs: stateRootUs,
    }
  },
}

async function runBundle(context: EthContext, given: Bundle): Promise<BundleMeter> {
  const outcome = await finished(context, context.metering.bundle(given))
  if (outcome.kind === 'measured') return outcome.value
  if (outcome.kind === 'unreadable') throw invalidParams(`Failed to parse bundle: ${outcome.reason}`)
  throw new RpcError(-32603, `Bundle metering failed: ${outcome.reason}`)
}

const bundleExample: Json = { txs: [], blockNumber: '0x1' }

const meterBundle = ethMethod({
  name: 'base_meterBundle',
  doc: 'Runs transactions in sequence on the head, and returns the gas and the execution time of each on this machine. Changes nothing.',
  params: [param('bundle', bundle)],
  result: bundleMeterResult,
  cost: 'trace',
  example: { params: [bundleExample] },
  run: runBundle,
})

const meteredPriorityFeePerGas = ethMethod({
  name: 'base_meteredPriorityFeePerGas',
  doc: "Not available: this node does not estimate fees by resource. Always returns an error, like Base's client.",
  params: [param('bundle', bundle)],
  result: bundleMeterResult,
  cost: 'instant',
  example: { params: [bundleExample] },
  run(): never {
    throw new RpcError(-32603, 'Priority fee estimation not configured')
  },
})

export const meterMethods: readonly Method<EthContext>[] = [meterBundle, meterBlockByHash, meterBlockByNumber, meteredPriorityFeePerGas]
