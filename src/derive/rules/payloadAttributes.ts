import { sequencerFeeVault } from '#chainspec/addresses'
import { encodeBaseTimeDeposit } from '#chainspec/baseTime'
import { millisPartOf } from '#chainspec/blockTime'
import { applyConfigUpdates } from '#chainspec/configUpdate'
import { activatesAt, isActive } from '#chainspec/forks'
import { encodeL1Attributes } from '#chainspec/l1Info'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import { upgradeTransactionsAt } from '#chainspec/upgradeTransactions'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import type { L2Ref } from '#types/blockRef'
import { zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import type { TransactionList } from '../codec/transactionList.ts'
import type { SafeHead } from '../ports.ts'
import { denimSystemConfig } from './denimSystemConfig.ts'
import type { Epoch } from './epoch.ts'
import { nextTimestamp } from './nextTimestamp.ts'

/** Minimum gas of a transaction that is no deposit. */
const leastGas = 21_000n

/** Returns the reason why the next block cannot have this L1 origin, or undefined. */
function refuse(config: RollupConfig, parent: L2Ref, origin: Epoch): string | undefined {
  const isSame = parent.l1Origin.number === origin.number
  if (isSame && parent.l1Origin.hash !== origin.hash) return `L1 origin ${origin.hash} conflicts with ${parent.l1Origin.hash}`
  if (!isSame && parent.l1Origin.hash !== origin.parentHash) return `L1 origin ${origin.hash} does not follow ${parent.l1Origin.hash}`
  return nextTimestamp(config, parent) < origin.timestamp
    ? `time of L2 block ${parent.number + 1} would be before its L1 origin`
    : undefined
}

function eip1559Params(config: RollupConfig, parent: L2Ref, systemConfig: SystemConfig): Uint8Array {
  if (!isActive(config.schedule, 'holocene', parent.timestamp)) return new Uint8Array(8)
  const { eip1559Denominator, eip1559Elasticity } = systemConfig
  return concatBytes(bytesFromBigint(BigInt(eip1559Denominator), 4), bytesFromBigint(BigInt(eip1559Elasticity), 4))
}

/** Returns the fields that forks added. */
function forkFields(config: RollupConfig, parent: L2Ref, origin: Epoch, systemConfig: SystemConfig): Partial<PayloadAttributes> {
  const timestamp = nextTimestamp(config, parent)
  const has = (fork: 'canyon' | 'ecotone' | 'holocene' | 'jovian'): boolean => isActive(config.schedule, fork, timestamp)
  return {
    ...(has('canyon') && { withdrawals: [] as const }),
    ...(has('ecotone') && { parentBeaconBlockRoot: origin.header.parentBeaconBlockRoot ?? zeroHash }),
    ...(has('holocene') && { eip1559Params: eip1559Params(config, parent, systemConfig) }),
    ...(has('jovian') && { minBaseFee: systemConfig.minBaseFee }),
  }
}

/** Returns the deposit that sets the milliseconds of a block's time, from Denim on. */
function baseTimeDeposits(config: RollupConfig, number: number, timestamp: number): readonly Uint8Array[] {
  return isActive(config.schedule, 'denim', timestamp) ? [encodeBaseTimeDeposit(number, millisPartOf(config, number))] : []
}

/**
 * Returns the attributes of the block after the safe head.
 * @param origin L1 origin of the new block: the safe head's own, or the block after it
 * @param transactions of the batch. Of more than a block can hold, the attributes have as many as make execution refuse the block.
 * @returns the attributes, or the reason why the L1 origin does not fit
 * @see specs protocol/derivation.md, "Deriving Payload Attributes"
 */
export function payloadAttributes(
  config: RollupConfig,
  safe: SafeHead,
  origin: Epoch,
  transactions: TransactionList,
): PayloadAttributes | string {
  const parent = safe.ref
  const refusal = refuse(config, parent, origin)
  if (refusal !== undefined) return refusal
  const beginsEpoch = parent.l1Origin.number !== origin.number
  const timestamp = nextTimestamp(config, parent)
  const l1 = { timestamp: origin.timestamp, receipts: origin.configReceipts }
  const updated = beginsEpoch ? applyConfigUpdates(safe.systemConfig, config, l1).systemConfig : safe.systemConfig
  const isFirstOfDenim = activatesAt(config.schedule, 'denim', parent.timestamp, timestamp)
  const systemConfig = isFirstOfDenim ? denimSystemConfig(updated) : updated
  const sequenceNumber = beginsEpoch ? 0 : parent.sequenceNumber + 1
  const upgrades = upgradeTransactionsAt(config.schedule, parent.timestamp, timestamp)
  const block = { parentTimestamp: parent.timestamp, timestamp, sequenceNumber }
  return {
    timestamp,
    prevRandao: origin.header.mixHash,
    suggestedFeeRecipient: sequencerFeeVault,
    transactions: [
      encodeL1Attributes(config, origin, systemConfig, block),
      ...baseTimeDeposits(config, parent.number + 1, timestamp),
      ...(beginsEpoch ? origin.deposits : []),
      ...upgrades,
      ...transactions.first(Number(systemConfig.gasLimit / leastGas) + 1),
    ],
    noTxPool: true,
    gasLimit: systemConfig.gasLimit,
    ...forkFields(config, parent, origin, systemConfig),
  }
}
