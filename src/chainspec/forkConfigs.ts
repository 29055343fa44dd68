import type { Hex } from '#lib/hex'
import type { Address } from '#types/ids'
import { beaconRootsContract, historyStorageContract } from './addresses.ts'
import type { BlobParams } from './blobSchedule.ts'
import { type ForkIdChain, forkActivations, forkIdAt } from './forkId.ts'
import { isActive } from './forks.ts'
import { evmRulesAt } from './opRules.ts'
import { precompileNames } from './precompileNames.ts'

/** Config of a chain from a fork on. @see EIP-7910 */
export type ForkConfig = {
  readonly forkId: Hex
  /** zeros: no blob transactions */
  readonly blobs: BlobParams
  readonly precompiles: ReadonlyMap<string, Address>
  /** system contracts of the protocol, by name */
  readonly systemContracts: Readonly<Record<string, Address>>
}

/** Configs of a chain over time, including those of scheduled forks without rules here. */
export type ForkConfigs = {
  /** times (seconds) after genesis at which execution rules change; ascending, unique */
  readonly activations: readonly number[]
  /** Returns the config at a time in seconds. */
  at(timestamp: number): ForkConfig
}

const noBlobs: BlobParams = { target: 0, max: 0, updateFraction: 0n }

/** Returns the fork configs of an OP chain. */
export function forkConfigsOf(chain: ForkIdChain): ForkConfigs {
  const { schedule } = chain
  return {
    activations: forkActivations(chain),
    at: (timestamp) => ({
      forkId: forkIdAt(chain, timestamp).hash,
      blobs: noBlobs,
      precompiles: precompileNames(evmRulesAt(schedule, timestamp)),
      systemContracts: {
        ...(isActive(schedule, 'ecotone', timestamp) && { BEACON_ROOTS_ADDRESS: beaconRootsContract }),
        ...(isActive(schedule, 'isthmus', timestamp) && { HISTORY_STORAGE_ADDRESS: historyStorageContract }),
      },
    }),
  }
}
