import { bigintFromBytes, numberFromBytes } from '#lib/bytes'
import { RlpError } from '#lib/rlp'
import type { L2Ref } from '#types/blockRef'
import { decodeDeposit } from '#types/deposit'
import type { Payload } from '#types/payload'
import { packScalars } from './configUpdate.ts'
import { chainFault } from './faults.ts'
import { isActive } from './forks.ts'
import { decodeL1Attributes, type L1Attributes } from './l1Info.ts'
import type { RollupConfig } from './rollupConfig.ts'
import type { SystemConfig } from './systemConfig.ts'

/** Decodes the L1 attributes of a block. @throws Fault MALFORMED_L1_ATTRIBUTES (fatal) when the block does not begin with L1 attributes */
export function l1AttributesIn(payload: Pick<Payload, 'transactions'>): L1Attributes {
  const first = payload.transactions[0]
  if (first === undefined) throw chainFault('MALFORMED_L1_ATTRIBUTES', { reason: 'the block is empty' })
  try {
    return decodeL1Attributes(decodeDeposit(first).data)
  } catch (error) {
    if (error instanceof RlpError) throw chainFault('MALFORMED_L1_ATTRIBUTES', { reason: error.message }, error)
    throw error
  }
}

/** The genesis blocks of a chain. */
export type KnownGenesis = { readonly genesis: Pick<RollupConfig['genesis'], 'l1' | 'l2'> }

/**
 * Returns a block's reference with its L1 origin and sequence number.
 * @throws Fault INVALID_CONFIG (fatal) for a genesis block that differs from the rollup config, MALFORMED_L1_ATTRIBUTES (fatal)
 */
export function l2RefOf(config: KnownGenesis, payload: Payload): L2Ref {
  const { genesis } = config
  const block = { hash: payload.blockHash, number: payload.blockNumber, parentHash: payload.parentHash, timestamp: payload.timestamp }
  if (payload.blockNumber === genesis.l2.number) {
    if (payload.blockHash !== genesis.l2.hash) {
      throw chainFault('INVALID_CONFIG', {
        what: 'rollup config',
        key: 'genesis.l2.hash',
        expected: `${payload.blockHash}, the genesis block's`,
        found: genesis.l2.hash,
      })
    }
    return { ...block, l1Origin: genesis.l1, sequenceNumber: 0 }
  }
  const { hash, number, sequenceNumber } = l1AttributesIn(payload)
  return { ...block, l1Origin: { hash, number }, sequenceNumber }
}

/** Decodes the base-fee parameters in a header's extra data, from Holocene on. @see specs protocol/holocene/exec-engine.md, jovian/exec-engine.md */
function extraDataFields(extraData: Uint8Array): Partial<SystemConfig> {
  if (extraData.length < 9)
    throw chainFault('MALFORMED_L1_ATTRIBUTES', { reason: `extra data of ${extraData.length} bytes after Holocene` })
  return {
    eip1559Denominator: numberFromBytes(extraData.subarray(1, 5)),
    eip1559Elasticity: numberFromBytes(extraData.subarray(5, 9)),
    ...(extraData.length >= 17 && { minBaseFee: bigintFromBytes(extraData.subarray(9, 17)) }),
  }
}

/**
 * Returns the system config that a block was built with, read from the block. Fields that the block does not contain are zero: the first block of
 * Isthmus
 * has no operator fee, and the first block of Jovian has no DA footprint scalar, nor have later blocks until L1 sets it.
 * @throws Fault MALFORMED_L1_ATTRIBUTES (fatal)
 * @see specs protocol/system-config.md; derivation.md, "Deriving Payload Attributes"
 */
export function systemConfigOf(config: RollupConfig, payload: Payload): SystemConfig {
  if (payload.blockNumber === config.genesis.l2.number) return config.genesis.systemConfig
  const info = l1AttributesIn(payload)
  return {
    batcher: info.batcher,
    overhead: info.overhead,
    scalar: info.format === 'bedrock' ? info.scalar : packScalars(info),
    gasLimit: payload.gasLimit,
    eip1559Denominator: 0,
    eip1559Elasticity: 0,
    operatorFeeScalar: info.operatorFeeScalar,
    operatorFeeConstant: info.operatorFeeConstant,
    minBaseFee: 0n,
    daFootprintGasScalar: info.daFootprintGasScalar,
    ...(isActive(config.schedule, 'holocene', payload.timestamp) && extraDataFields(payload.extraData)),
  }
}
