import type { Address } from '#types/ids'
import type { BlobParams } from './blobSchedule.ts'
import { type EvmRules, oldEvmForks } from './evmRules.ts'

const [, ...afterFrontier] = oldEvmForks

/** Ethereum's forks that start at a block, in order. Forks that only delay the difficulty bomb have no rules here. */
export const ethereumBlockForks = [...afterFrontier, 'paris'] as const
/** Ethereum's forks that start at a time, in order; the last ones change blob parameters only (EIP-7892). */
export const ethereumTimeForks = ['shanghai', 'cancun', 'prague', 'osaka', 'bpo1', 'bpo2', 'bpo3', 'bpo4', 'bpo5'] as const
export type EthereumBlockFork = (typeof ethereumBlockForks)[number]
export type EthereumTimeFork = (typeof ethereumTimeForks)[number]
export type EthereumFork = EthereumBlockFork | EthereumTimeFork

/**
 * Activation of Ethereum's own rules. Only test chains have such a schedule: they compare this node with other Ethereum clients.
 * No built-in network and no rollup config has one.
 */
export type EthereumSchedule = {
  /** Block numbers. */
  readonly blocks: Readonly<Partial<Record<EthereumBlockFork, number>>>
  /** Seconds. */
  readonly times: Readonly<Partial<Record<EthereumTimeFork, number>>>
  readonly blobs: Readonly<Partial<Record<EthereumTimeFork, BlobParams>>>
  /** Every block number at which the fork id changes, including forks without rules here; ascending, unique, never zero. */
  readonly forkIdBlocks: readonly number[]
  /** EIP-6110. */
  readonly depositContract: Address
}

/** Block number and time, which determine a block's rules. */
export type BlockPlace = { readonly number: number /** seconds */; readonly timestamp: number }

const isBlockFork = (fork: EthereumFork): fork is EthereumBlockFork => (ethereumBlockForks as readonly EthereumFork[]).includes(fork)

/** Returns whether a block follows the rules of a fork. */
export function followsEthereum(schedule: EthereumSchedule, fork: EthereumFork, at: BlockPlace): boolean {
  if (isBlockFork(fork)) {
    const activation = schedule.blocks[fork]
    return activation !== undefined && at.number >= activation
  }
  const activation = schedule.times[fork]
  return activation !== undefined && at.timestamp >= activation
}

/** Returns the blob parameters of a block; undefined before Cancun. */
export function blobParamsAt(schedule: EthereumSchedule, timestamp: number): BlobParams | undefined {
  const fork = ethereumTimeForks.findLast((each) => {
    const activation = schedule.times[each]
    return schedule.blobs[each] !== undefined && activation !== undefined && timestamp >= activation
  })
  return fork && schedule.blobs[fork]
}

const noLimits = { precompileLimits: {} } as const

/** Rules by fork, latest first; one object per rule change. Creation over old storage follows go-ethereum, which generated the reference chains. */
const byFork: readonly (readonly [EthereumFork, EvmRules])[] = [
  ['osaka', { fork: 'osaka', ...noLimits, p256VerifyGas: 6_900, creationOverStorage: 'allow' }],
  ['prague', { fork: 'prague', ...noLimits, creationOverStorage: 'allow' }],
  ['cancun', { fork: 'cancun', ...noLimits }],
  ['shanghai', { fork: 'shanghai', ...noLimits }],
  ['paris', { fork: 'paris', ...noLimits }],
  ['london', { fork: 'paris', old: 'london', ...noLimits }],
  ['berlin', { fork: 'paris', old: 'berlin', ...noLimits }],
  ['istanbul', { fork: 'paris', old: 'istanbul', ...noLimits }],
  ['petersburg', { fork: 'paris', old: 'petersburg', ...noLimits }],
  ['constantinople', { fork: 'paris', old: 'constantinople', ...noLimits }],
  ['byzantium', { fork: 'paris', old: 'byzantium', ...noLimits }],
  ['spuriousDragon', { fork: 'paris', old: 'spuriousDragon', ...noLimits }],
  ['tangerineWhistle', { fork: 'paris', old: 'tangerineWhistle', ...noLimits }],
  ['homestead', { fork: 'paris', old: 'homestead', ...noLimits }],
]
const frontierRules: EvmRules = { fork: 'paris', old: 'frontier', ...noLimits }

/** Returns the interpreter rules of a block: the same object for all blocks between two changes. */
export function ethereumRulesAt(schedule: EthereumSchedule, at: BlockPlace): EvmRules {
  return byFork.find(([fork]) => followsEthereum(schedule, fork, at))?.[1] ?? frontierRules
}
