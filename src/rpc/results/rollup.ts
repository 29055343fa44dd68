import { l2OutputRoot } from '#chain/l2OutputRoot'
import type { RollupConfig } from '#chain/rollupConfig'
import type { SystemConfig } from '#chain/systemConfig'
import { toHex } from '#lib/hex'
import { zeroHash } from '#types/ids'
import type { Json } from '../json.ts'
import type { OutputFacts, RollupStatus } from '../ports.ts'
import type { ResultCodec } from '../registry.ts'
import { blockIdResult, l1RefResult, l2RefResult } from './refs.ts'

/** Unsafe blocks of other chains are no condition here: cross-unsafe is unsafe, local-safe is safe. */
export const syncStatusResult: ResultCodec<RollupStatus> = {
  doc: 'heads of L1 and L2 as the consensus half sees them; what is not known yet is zero',
  encode: (status) => ({
    current_l1: l1RefResult(status.currentL1),
    current_l1_finalized: l1RefResult(status.finalizedL1),
    head_l1: l1RefResult(status.headL1),
    safe_l1: l1RefResult(status.safeL1),
    finalized_l1: l1RefResult(status.finalizedL1),
    unsafe_l2: l2RefResult(status.unsafeL2),
    safe_l2: l2RefResult(status.safeL2),
    finalized_l2: l2RefResult(status.finalizedL2),
    cross_unsafe_l2: l2RefResult(status.unsafeL2),
    local_safe_l2: l2RefResult(status.safeL2),
  }),
}

export type OutputAnswer = { readonly output: OutputFacts; readonly status: RollupStatus }

export const outputResult: ResultCodec<OutputAnswer> = {
  doc: 'output root of an L2 block with what it is made of',
  encode: ({ output, status }) => ({
    version: zeroHash,
    outputRoot: l2OutputRoot({ ...output, hash: output.ref.hash }),
    blockRef: l2RefResult(output.ref),
    withdrawalStorageRoot: output.messagePasserStorageRoot,
    stateRoot: output.stateRoot,
    syncStatus: syncStatusResult.encode(status),
  }),
}

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`
const unlessZero = (value: number | bigint): number | null => (Number(value) === 0 ? null : Number(value))

/** The genesis system config. What a configuration without these members means is null. */
const systemConfigResult = (config: SystemConfig): Json => ({
  batcherAddr: config.batcher,
  overhead: word(config.overhead),
  scalar: word(config.scalar),
  gasLimit: Number(config.gasLimit),
  baseFeeScalar: null,
  blobBaseFeeScalar: null,
  eip1559Denominator: unlessZero(config.eip1559Denominator),
  eip1559Elasticity: unlessZero(config.eip1559Elasticity),
  operatorFeeScalar: unlessZero(config.operatorFeeScalar),
  operatorFeeConstant: unlessZero(config.operatorFeeConstant),
  minBaseFee: unlessZero(config.minBaseFee),
  daFootprintGasScalar: unlessZero(config.daFootprintGasScalar),
})

/** Bedrock has no time of its own in this format: it is the genesis. */
function forkTimes(config: RollupConfig): Record<string, Json> {
  const { bedrock: _genesis, ...later } = config.schedule
  return Object.fromEntries(Object.entries(later).map(([fork, time]) => [`${fork}_time`, time]))
}

export const rollupConfigResult: ResultCodec<RollupConfig> = {
  doc: 'rollup configuration, in the format of rollup.json',
  encode: (config) => ({
    genesis: {
      l1: blockIdResult(config.genesis.l1),
      l2: blockIdResult(config.genesis.l2),
      l2_time: config.genesis.l2TimeSec,
      system_config: systemConfigResult(config.genesis.systemConfig),
    },
    block_time: config.blockTimeSec,
    max_sequencer_drift: config.maxSequencerDriftSec,
    seq_window_size: config.sequencingWindowBlocks,
    channel_timeout: config.channelTimeoutBlocks,
    granite_channel_timeout: config.channelTimeoutGraniteBlocks,
    l1_chain_id: config.l1ChainId,
    l2_chain_id: config.l2ChainId,
    ...forkTimes(config),
    ...(config.pectraBlobScheduleTimeSec !== undefined && { pectra_blob_schedule_time: config.pectraBlobScheduleTimeSec }),
    batch_inbox_address: config.batchInbox,
    deposit_contract_address: config.depositContract,
    l1_system_config_address: config.l1SystemConfig,
    protocol_versions_address: config.protocolVersions ?? toHex(new Uint8Array(20)),
    chain_op_config: {
      eip1559Elasticity: config.eip1559.elasticity,
      eip1559Denominator: config.eip1559.denominator,
      eip1559DenominatorCanyon: config.eip1559.denominatorCanyon,
    },
  }),
}
