import { genesisBlock } from '#block/genesisBlock'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { ForkSchedule } from '#chainspec/forks'
import type { Genesis } from '#chainspec/genesis'
import { parseRollupConfig, type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import { toQuantity } from '#lib/hex'
import { lazy } from '#lib/lazy'
import type { BlockId } from '#types/blockRef'
import { type Address, parseAddress, zeroAddress } from '#types/ids'
import { beginsWith, type ForkOffsets } from './forkSchedule.ts'

export type DevnetChainOptions = {
  readonly chainId: number
  readonly l1ChainId: number
  /** between two blocks before Denim */
  readonly blockTimeSec: number
  readonly forks: ForkOffsets
  /** each starts with 10,000 ETH on L2 */
  readonly accounts: readonly Address[]
  readonly batcher: Address
  /** admin of the activation registry, from Beryl on; absent in a devnet stored by a version before Beryl */
  readonly activationAdmin?: Address
}

/** L1 on which the chain begins: the first L2 block builds on its genesis. */
export type DevnetOrigin = {
  readonly genesis: BlockId
  readonly genesisTimeSec: number
  readonly portal: Address
  readonly systemConfig: Address
}

export type DevnetChain = { readonly config: RollupConfig; readonly genesis: () => Genesis; readonly genesisNote: unknown }

/** wei */
export const startBalance: bigint = 10_000n * 10n ** 18n
/** Block gas limit: enough for a thousand transfers a second, with their DA footprint from Jovian on. */
const gasLimit = 120_000_000n
/** The limit with Denim, whose first block divides it by ten: then that of Base mainnet. */
const gasLimitBeforeDenim = 400_000_000n
/** wei per gas: without it the base fee of an idle chain falls to zero, and fee estimates have no meaning */
const minBaseFee = 1_000_000n
/** Base's scalars of L1's base fee and of its blob base fee, in millionths */
const [baseFeeScalar, blobBaseFeeScalar] = [2_269n, 1_055_762n]
/** scalars before Ecotone: L1's base fee in millionths, and gas per transaction */
const [bedrockScalar, bedrockOverhead] = [684_000n, 188n]
const inbox = parseAddress(`0xff00${'00'.repeat(17)}99`)
const eip1559 = { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 }

/** Returns the initial scalar: packed when Ecotone is active from the first blocks on; otherwise the scalar is changed on L1 after Ecotone. */
function scalarOf(options: DevnetChainOptions): bigint {
  return beginsWith(options, 'ecotone') ? (1n << 248n) | (blobBaseFeeScalar << 32n) | baseFeeScalar : bedrockScalar
}

/** Returns the initial system config. */
export function systemConfigOf(options: DevnetChainOptions): SystemConfig {
  return {
    batcher: options.batcher,
    overhead: bedrockOverhead,
    scalar: scalarOf(options),
    gasLimit: options.forks.denim === undefined ? gasLimit : gasLimitBeforeDenim,
    eip1559Denominator: 0,
    eip1559Elasticity: 0,
    operatorFeeScalar: 0,
    operatorFeeConstant: 0n,
    minBaseFee,
    daFootprintGasScalar: 0,
  }
}

const scheduleOf = ({ forks, activationAdmin }: DevnetChainOptions, genesisTimeSec: number): ForkSchedule => ({
  bedrock: 0,
  regolith: 0,
  ...(activationAdmin && { activationAdmin }),
  ...Object.fromEntries(Object.entries(forks).map(([fork, offsetSec]) => [fork, genesisTimeSec + offsetSec])),
})

/** Returns the genesis in the format of `--genesis`: Base's predeploys, the accounts, the forks. */
function genesisNoteOf(options: DevnetChainOptions, genesisTimeSec: number): unknown {
  const { azul, beryl, cobalt, denim, ...ordinary } = options.forks
  const times = Object.entries(ordinary).map(([fork, offsetSec]) => [`${fork}Time`, genesisTimeSec + offsetSec])
  const baseTimes = Object.entries({ azul, beryl, cobalt, denim }).flatMap(([fork, offsetSec]) =>
    offsetSec === undefined ? [] : [[fork, genesisTimeSec + offsetSec]],
  )
  const { activationAdmin } = options
  const base = baseTimes.length > 0 && {
    base: Object.fromEntries(baseTimes),
    ...(activationAdmin && { activationAdminAddress: activationAdmin }),
  }
  return {
    config: { chainId: options.chainId, bedrockBlock: 0, regolithTime: 0, ...Object.fromEntries(times), ...base, optimism: eip1559 },
    genesisTimestamp: genesisTimeSec,
    extraAlloc: Object.fromEntries(options.accounts.map((address) => [address, { balance: toQuantity(startBalance) }])),
  }
}

/** Creates genesis and rollup config of a new devnet. Cost: about 200 ms, for the state root of genesis. */
export function makeDevnetChain(options: DevnetChainOptions, origin: DevnetOrigin): DevnetChain {
  const { genesisTimeSec } = origin
  const genesisNote = genesisNoteOf(options, genesisTimeSec)
  const { genesis } = parseBaseGenesisNote(genesisNote)
  const schedule = scheduleOf(options, genesisTimeSec)
  const config: RollupConfig = {
    genesis: {
      l1: origin.genesis,
      l2: { number: 0, hash: genesisBlock(genesis, schedule).hash },
      l2TimeSec: genesisTimeSec,
      systemConfig: systemConfigOf(options),
    },
    blockTimeSec: options.blockTimeSec,
    maxSequencerDriftSec: 600,
    sequencingWindowBlocks: 3_600,
    channelTimeoutBlocks: 300,
    channelTimeoutGraniteBlocks: 50,
    l1ChainId: options.l1ChainId,
    l2ChainId: options.chainId,
    schedule,
    batchInbox: inbox,
    depositContract: origin.portal,
    l1SystemConfig: origin.systemConfig,
    protocolVersions: zeroAddress,
    eip1559: {
      elasticity: eip1559.eip1559Elasticity,
      denominator: eip1559.eip1559Denominator,
      denominatorCanyon: eip1559.eip1559DenominatorCanyon,
    },
  }
  return { config, genesis: () => genesis, genesisNote }
}

export type DevnetChainFiles = { readonly rollup: unknown; readonly genesis: unknown }

export const toChainFiles = ({ config, genesisNote }: DevnetChain): DevnetChainFiles => ({
  rollup: toRollupJson(config),
  genesis: genesisNote,
})

/** Parses a chain's files. @throws Fault INVALID_CONFIG (fatal) */
export function parseChainFiles({ rollup, genesis }: DevnetChainFiles): DevnetChain {
  return { config: parseRollupConfig(rollup).config, genesis: lazy(() => parseBaseGenesisNote(genesis).genesis), genesisNote: genesis }
}
