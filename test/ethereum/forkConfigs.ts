import { beaconRootsContract, historyStorageContract } from '#chainspec/addresses'
import type { ForkConfigs } from '#chainspec/forkConfigs'
import { forkHash } from '#chainspec/forkId'
import { precompileNames } from '#chainspec/precompileNames'
import type { EthereumChainSpec } from './genesis.ts'
import { consolidationRequestsContract, withdrawalRequestsContract } from './requests.ts'
import { blobParamsAt, ethereumRulesAt, ethereumTimeForks, followsEthereum } from './schedule.ts'

const noBlobs = { target: 0, max: 0, updateFraction: 0n }

/** Returns the fork configs of a chain with Ethereum's own rules, from the merge on. */
export function ethereumForkConfigs({ schedule, genesis }: Pick<EthereumChainSpec, 'schedule' | 'genesis'>): ForkConfigs {
  const times = ethereumTimeForks.flatMap((fork) => schedule.times[fork] ?? [])
  const activations = [...new Set(times)].filter((time) => time > genesis.header.timestamp).sort((a, b) => a - b)
  return {
    activations,
    at(timestamp): ReturnType<ForkConfigs['at']> {
      const place = { number: Number.MAX_SAFE_INTEGER, timestamp }
      const passed = activations.filter((time) => time <= timestamp)
      return {
        forkId: forkHash(genesis.hash, [...schedule.forkIdBlocks, ...passed]),
        blobs: blobParamsAt(schedule, timestamp) ?? noBlobs,
        precompiles: precompileNames(ethereumRulesAt(schedule, place)),
        systemContracts: {
          ...(followsEthereum(schedule, 'cancun', place) && { BEACON_ROOTS_ADDRESS: beaconRootsContract }),
          ...(followsEthereum(schedule, 'prague', place) && {
            HISTORY_STORAGE_ADDRESS: historyStorageContract,
            CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS: consolidationRequestsContract,
            DEPOSIT_CONTRACT_ADDRESS: schedule.depositContract,
            WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS: withdrawalRequestsContract,
          }),
        },
      }
    },
  }
}
