import type { BlobParams } from '#chainspec/blobSchedule'
import type { ForkSchedule } from '#chainspec/forks'
import { type EthereumRules, oldEvmForks } from '#test/reference/oldForks'
import type { Address } from '#types/ids'

const [, ...afterFrontier] = oldEvmForks

/** Ethereum's forks that start at a block, in order. Forks that only delay the difficulty bomb have no rules here. */
export const ethereumBlockForks = [...afterFrontier, 'paris'] as const
/** Ethereum's forks that start at a time, in order; the last ones change blob parameters only (EIP-7892). */
export const ethereumTimeForks = ['shanghai', 'cancun', 'prague', 'osaka', 'bpo1', 'bpo2', 'bpo3', 'bpo4', 'bpo5'] as const
export type EthereumBlockFork = (typeof ethereumBlockForks)[number]
export type EthereumTimeFork = (typeof ethereumTimeForks)[number]
export type EthereumFork = EthereumBlockFork | EthereumTimeFork

/**
 * Activation of Ethereum's own rules. A chain with such a schedule compares this node with other Ethereum clients.
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
const byFork: readonly (readonly [EthereumFork, EthereumRules])[] = [
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
const frontierRules: EthereumRules = { fork: 'paris', old: 'frontier', ...noLimits }

/** Returns the interpreter rules of a block: the same object for all blocks between two changes. */
export function ethereumRulesAt(schedule: EthereumSchedule, at: BlockPlace): EthereumRules {
  return byFork.find(([fork]) => followsEthereum(schedule, fork, at))?.[1] ?? frontierRules
}

/**
 * Returns the Base forks whose rules for messages equal Ethereum's after the merge, at the times of Ethereum's forks. Calls, the pool and the
 * JSON-RPC methods run on a chain of Ethereum with this schedule. Blocks need the rules in this folder.
 */
export function baseScheduleOf({ times: { shanghai, cancun, prague, osaka } }: EthereumSchedule): ForkSchedule {
  return {
    ...(shanghai !== undefined && { canyon: shanghai }),
    ...(cancun !== undefined && { ecotone: cancun }),
    ...(prague !== undefined && { isthmus: prague }),
    ...(osaka !== undefined && { azul: osaka }),
  }
}
