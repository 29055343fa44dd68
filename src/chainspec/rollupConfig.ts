import { z } from 'zod'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { type Address, zeroAddress } from '#types/ids'
import type { BlobSchedule } from './blobSchedule.ts'
import { address, bytes8, count, hash, optionalCount, parseConfig, word } from './configJson.ts'
import { type Eip1559Params, eip1559From, eip1559Schema } from './eip1559Config.ts'
import { chainFault } from './faults.ts'
import { baseForks, type Fork, type ForkSchedule } from './forks.ts'
import { scheduleOf } from './scheduleConfig.ts'
import type { SystemConfig } from './systemConfig.ts'

/** Configuration of a rollup: the values of op-node's rollup.json. */
export type RollupConfig = {
  readonly genesis: { readonly l1: BlockId; readonly l2: BlockId; readonly l2TimeSec: number; readonly systemConfig: SystemConfig }
  readonly blockTimeSec: number
  /** Before Fjord; 1,800 s from Fjord on. */
  readonly maxSequencerDriftSec: number
  /** L1 blocks. */
  readonly sequencingWindowBlocks: number
  /** L1 blocks, before Granite. */
  readonly channelTimeoutBlocks: number
  /** L1 blocks, from Granite on. */
  readonly channelTimeoutGraniteBlocks: number
  readonly l1ChainId: number
  readonly l2ChainId: number
  readonly schedule: ForkSchedule
  /** Before this L1 time, Cancun's parameters price blobs even if L1 runs Prague (Sepolia networks). */
  readonly pectraBlobScheduleTimeSec?: number
  /** of the operator's chain config of L1: no part of rollup.json */
  readonly l1BlobSchedule?: BlobSchedule
  readonly batchInbox: Address
  readonly depositContract: Address
  readonly l1SystemConfig: Address
  readonly protocolVersions?: Address
  readonly eip1559: Eip1559Params
}

/** EIP-1559 parameters of Base mainnet, the default for a rollup.json without `chain_op_config`. */
const defaultEip1559: Eip1559Params = { elasticity: 6, denominator: 50, denominatorCanyon: 250 }
const defaultChannelTimeoutGranite = 50
const what = 'rollup config'

const blockId = z.strictObject({ hash, number: count })

const systemConfigSchema = z.strictObject({
  batcherAddr: address,
  overhead: word,
  scalar: word,
  gasLimit: count,
  baseFeeScalar: optionalCount,
  blobBaseFeeScalar: optionalCount,
  eip1559Params: bytes8.nullish(),
  eip1559Denominator: optionalCount,
  eip1559Elasticity: optionalCount,
  operatorFeeParams: word.nullish(),
  operatorFeeScalar: optionalCount,
  operatorFeeConstant: optionalCount,
  minBaseFee: optionalCount,
  daFootprintGasScalar: optionalCount,
})

const ordinaryForks = ['regolith', 'canyon', 'delta', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian'] as const

const schema = z.strictObject({
  genesis: z.strictObject({ l1: blockId, l2: blockId, l2_time: count, system_config: systemConfigSchema }),
  block_time: z.int().positive(),
  max_sequencer_drift: count,
  seq_window_size: z.int().min(2),
  channel_timeout: z.int().positive(),
  granite_channel_timeout: z.int().positive().nullish(),
  l1_chain_id: z.int().positive(),
  l2_chain_id: z.int().positive(),
  regolith_time: optionalCount,
  canyon_time: optionalCount,
  delta_time: optionalCount,
  ecotone_time: optionalCount,
  fjord_time: optionalCount,
  granite_time: optionalCount,
  holocene_time: optionalCount,
  isthmus_time: optionalCount,
  jovian_time: optionalCount,
  pectra_blob_schedule_time: optionalCount,
  base: z
    .strictObject({
      ...{ azul: optionalCount, beryl: optionalCount, cobalt: optionalCount, denim: optionalCount },
      activation_admin: address.nullish(),
    })
    .nullish(),
  batch_inbox_address: address,
  deposit_contract_address: address,
  l1_system_config_address: address,
  protocol_versions_address: address.nullish(),
  alt_da: z.null({ error: 'absent: data outside of L1 is not supported' }).optional(),
  chain_op_config: eip1559Schema.nullish(),
})
type RollupJson = z.output<typeof schema>

const keyOf = (fork: Fork): string => ((baseForks as readonly Fork[]).includes(fork) ? `base.${fork}` : `${fork}_time`)

function systemConfigFrom(json: RollupJson['genesis']['system_config']): SystemConfig {
  const params = json.eip1559Params ? new DataView(fromHex(json.eip1559Params).buffer) : undefined
  const operator = json.operatorFeeParams ?? 0n
  return {
    batcher: json.batcherAddr,
    overhead: json.overhead,
    scalar: json.scalar,
    gasLimit: BigInt(json.gasLimit),
    eip1559Denominator: json.eip1559Denominator ?? params?.getUint32(0) ?? 0,
    eip1559Elasticity: json.eip1559Elasticity ?? params?.getUint32(4) ?? 0,
    operatorFeeScalar: json.operatorFeeScalar ?? Number((operator >> 64n) & 0xffff_ffffn),
    operatorFeeConstant: json.operatorFeeConstant == null ? operator & 0xffff_ffff_ffff_ffffn : BigInt(json.operatorFeeConstant),
    minBaseFee: BigInt(json.minBaseFee ?? 0),
    daFootprintGasScalar: json.daFootprintGasScalar ?? 0,
  }
}

function timesFrom(json: RollupJson): Partial<Record<Fork, number | null | undefined>> {
  const { activation_admin: _, ...baseTimes } = json.base ?? {}
  const times: Partial<Record<Fork, number | null | undefined>> = baseTimes
  for (const fork of ordinaryForks) times[fork] = json[`${fork}_time`]
  return times
}

export type ParsedRollupConfig = {
  readonly config: RollupConfig
  readonly warnings: readonly string[]
  /** false: `config.eip1559` is the default, and a genesis file may override it. */
  readonly hasEip1559: boolean
}

/**
 * Parses op-node's rollup.json. The warnings name unknown keys.
 * @throws Fault INVALID_CONFIG (fatal) that names the key and the expected value
 */
export function parseRollupConfig(json: unknown): ParsedRollupConfig {
  const { value, warnings } = parseConfig(schema, json, what)
  const planned = scheduleOf(timesFrom(value), what, keyOf)
  if (value.l1_chain_id === value.l2_chain_id) {
    const found = String(value.l2_chain_id)
    throw chainFault('INVALID_CONFIG', { what, key: 'l2_chain_id', expected: 'a chain id other than that of L1', found })
  }
  const config: RollupConfig = {
    genesis: {
      l1: value.genesis.l1,
      l2: value.genesis.l2,
      l2TimeSec: value.genesis.l2_time,
      systemConfig: systemConfigFrom(value.genesis.system_config),
    },
    blockTimeSec: value.block_time,
    maxSequencerDriftSec: value.max_sequencer_drift,
    sequencingWindowBlocks: value.seq_window_size,
    channelTimeoutBlocks: value.channel_timeout,
    channelTimeoutGraniteBlocks: value.granite_channel_timeout ?? defaultChannelTimeoutGranite,
    l1ChainId: value.l1_chain_id,
    l2ChainId: value.l2_chain_id,
    schedule: value.base?.activation_admin ? { ...planned.schedule, activationAdmin: value.base.activation_admin } : planned.schedule,
    ...(value.pectra_blob_schedule_time != null && { pectraBlobScheduleTimeSec: value.pectra_blob_schedule_time }),
    batchInbox: value.batch_inbox_address,
    depositContract: value.deposit_contract_address,
    l1SystemConfig: value.l1_system_config_address,
    ...(value.protocol_versions_address && { protocolVersions: value.protocol_versions_address }),
    eip1559: value.chain_op_config ? eip1559From(value.chain_op_config, planned.schedule, what, 'chain_op_config') : defaultEip1559,
  }
  return { config, warnings: [...warnings, ...planned.warnings], hasEip1559: Boolean(value.chain_op_config) }
}

/**
 * Returns the time in seconds whose L2 blocks derivation may read again at a start: a sequencing window and the channel timeout before it, which counts twice
 * before Canyon. A quarter more is added for empty slots of L1.
 * @param slotSec seconds between L1 slots
 * @see specs protocol/derivation.md, "Resetting the Pipeline"
 */
export function rederivedSec(config: RollupConfig, slotSec = 12): number {
  const timeoutBlocks = Math.max(config.channelTimeoutBlocks, config.channelTimeoutGraniteBlocks)
  return 1.25 * slotSec * (config.sequencingWindowBlocks + 2 * timeoutBlocks)
}

const orNull = (value: number | bigint): number | null => (value ? Number(value) : null)

function systemConfigJson(config: SystemConfig): Readonly<Record<string, unknown>> {
  return {
    batcherAddr: config.batcher,
    overhead: toHex(bytesFromBigint(config.overhead, 32)),
    scalar: toHex(bytesFromBigint(config.scalar, 32)),
    gasLimit: Number(config.gasLimit),
    baseFeeScalar: null,
    blobBaseFeeScalar: null,
    eip1559Denominator: orNull(config.eip1559Denominator),
    eip1559Elasticity: orNull(config.eip1559Elasticity),
    operatorFeeScalar: orNull(config.operatorFeeScalar),
    operatorFeeConstant: orNull(config.operatorFeeConstant),
    minBaseFee: orNull(config.minBaseFee),
    daFootprintGasScalar: orNull(config.daFootprintGasScalar),
  }
}

function timesJson(forks: readonly Fork[], key: (fork: Fork) => string, schedule: ForkSchedule): Readonly<Record<string, number>> {
  return Object.fromEntries(forks.flatMap((fork) => (schedule[fork] === undefined ? [] : [[key(fork), schedule[fork]]])))
}

/** Formats a rollup config like `optimism_rollupConfig`; `parseRollupConfig` restores an equal config. */
export function toRollupJson(config: RollupConfig): Readonly<Record<string, unknown>> {
  const { activationAdmin } = config.schedule
  const base = { ...timesJson(baseForks, (fork) => fork, config.schedule), ...(activationAdmin && { activation_admin: activationAdmin }) }
  return {
    genesis: {
      l1: { number: config.genesis.l1.number, hash: config.genesis.l1.hash },
      l2: { number: config.genesis.l2.number, hash: config.genesis.l2.hash },
      l2_time: config.genesis.l2TimeSec,
      system_config: systemConfigJson(config.genesis.systemConfig),
    },
    block_time: config.blockTimeSec,
    max_sequencer_drift: config.maxSequencerDriftSec,
    seq_window_size: config.sequencingWindowBlocks,
    channel_timeout: config.channelTimeoutBlocks,
    granite_channel_timeout: config.channelTimeoutGraniteBlocks,
    l1_chain_id: config.l1ChainId,
    l2_chain_id: config.l2ChainId,
    ...timesJson(ordinaryForks, keyOf, config.schedule),
    ...(config.pectraBlobScheduleTimeSec !== undefined && { pectra_blob_schedule_time: config.pectraBlobScheduleTimeSec }),
    ...(Object.keys(base).length > 0 && { base }),
    batch_inbox_address: config.batchInbox,
    deposit_contract_address: config.depositContract,
    l1_system_config_address: config.l1SystemConfig,
    protocol_versions_address: config.protocolVersions ?? zeroAddress,
    chain_op_config: {
      eip1559Elasticity: config.eip1559.elasticity,
      eip1559Denominator: config.eip1559.denominator,
      eip1559DenominatorCanyon: config.eip1559.denominatorCanyon,
    },
  }
}
