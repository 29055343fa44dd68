import { crc32 } from 'node:zlib'
import { u64Bytes } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import { type Fork, type ForkSchedule, forks } from './forks.ts'
import type { RollupConfig } from './rollupConfig.ts'

/** Fork id: a checksum of the chain's past forks, and the time (seconds) of the next fork, 0 when none is scheduled. */
export type ForkId = { readonly hash: Hex; readonly next: number }

/** The chain data that determines fork ids. */
export type ForkIdChain = { readonly schedule: ForkSchedule; readonly genesis: Pick<RollupConfig['genesis'], 'l2' | 'l2TimeSec'> }

/** Forks excluded from the checksum. Delta concerns derivation only; execution clients do not know it. */
const uncounted: readonly Fork[] = ['bedrock', 'delta']

/**
 * Computes the CRC-32 of the genesis hash and of each activation after it, 4 bytes in hex.
 * @param activations times in seconds; on Ethereum block numbers before them; ascending, unique
 * @see EIP-2124, "Fork identifier"; EIP-6122
 */
export function forkHash(genesis: Hash, activations: readonly number[]): Hex {
  let sum = crc32(fromHex(genesis))
  for (const activation of activations) sum = crc32(u64Bytes(activation), sum)
  return `0x${sum.toString(16).padStart(8, '0')}`
}

/** Returns the times (seconds) after genesis at which execution rules change; ascending, unique. Includes scheduled forks without rules here. */
export function forkActivations({ schedule, genesis }: ForkIdChain): readonly number[] {
  const times = forks.filter((fork) => !uncounted.includes(fork)).flatMap((fork) => schedule[fork] ?? [])
  return [...new Set(times)].filter((time) => time > genesis.l2TimeSec).sort((a, b) => a - b)
}

/** Returns the fork id at a head time in seconds. */
export function forkIdAt(chain: ForkIdChain, timestamp: number): ForkId {
  const activations = forkActivations(chain)
  const passed = activations.filter((time) => time <= timestamp)
  return {
    hash: forkHash(chain.genesis.l2.hash, passed),
    next: activations[passed.length] ?? 0,
  }
}
