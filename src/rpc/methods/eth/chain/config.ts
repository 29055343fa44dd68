import {
  beaconRootsContract,
  consolidationRequestsContract,
  historyStorageContract,
  withdrawalRequestsContract,
} from '#chainspec/addresses'
import { blobParamsAt, type EthereumSchedule, followsEthereum } from '#chainspec/ethereumSchedule'
import { type ForkIdChain, forkActivations, forkIdAt } from '#chainspec/forkId'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import { plannedEvmRules } from '#chainspec/opRules'
import { precompileNames } from '#chainspec/precompileNames'
import { toQuantity } from '#lib/hex'
import type { Json } from '../../../json.ts'
import { nullable, object, refTo } from '../../../reference/schemas.ts'
import type { ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

/** Blob schedule of a chain without blob transactions. */
const noBlobs = { baseFeeUpdateFraction: 0, max: 0, target: 0 }

function blobSchedule(ethereum: EthereumSchedule | undefined, time: number): Json {
  const params = ethereum && blobParamsAt(ethereum, time)
  return params ? { target: params.target, max: params.max, baseFeeUpdateFraction: Number(params.updateFraction) } : noBlobs
}

/** System contracts of the protocol, by name. */
function systemContracts(schedule: ForkSchedule, time: number): Json {
  const { ethereum } = schedule
  const follows = (fork: 'cancun' | 'prague'): boolean =>
    ethereum !== undefined && followsEthereum(ethereum, fork, { number: Number.MAX_SAFE_INTEGER, timestamp: time })
  return {
    ...((isActive(schedule, 'ecotone', time) || follows('cancun')) && { BEACON_ROOTS_ADDRESS: beaconRootsContract }),
    ...((isActive(schedule, 'isthmus', time) || follows('prague')) && { HISTORY_STORAGE_ADDRESS: historyStorageContract }),
    ...(follows('prague') && {
      CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS: consolidationRequestsContract,
      DEPOSIT_CONTRACT_ADDRESS: ethereum?.depositContract ?? null,
      WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS: withdrawalRequestsContract,
    }),
  }
}

const forkSchema = object('fork config', {
  ...{ activationTime: { type: 'integer' }, blobSchedule: { type: 'object' }, chainId: refTo('Quantity'), forkId: refTo('Bytes') },
  ...{ precompiles: { type: 'object' }, systemContracts: { type: 'object' } },
})

const configResult: ResultCodec<Json> = {
  doc: 'current, next, last: activationTime (seconds; 0: at genesis), blobSchedule (zeros: no blob transactions), chainId, forkId, precompiles by name, systemContracts; next and last are null when no fork is planned',
  schema: object('config', { current: forkSchema, next: nullable(forkSchema), last: nullable(forkSchema) }),
  encode: (value) => value,
}

/** Config from an activation on. @param activation seconds; 0: genesis */
function configAt(forks: ForkIdChain, chainId: number, activation: number): Json {
  const { schedule, genesis } = forks
  const time = activation === 0 ? genesis.l2TimeSec : activation
  const precompiles = [...precompileNames(plannedEvmRules(schedule, time))].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    activationTime: activation,
    blobSchedule: blobSchedule(schedule.ethereum, time),
    chainId: toQuantity(chainId),
    forkId: forkIdAt(forks, time).hash,
    precompiles: Object.fromEntries(precompiles),
    systemContracts: systemContracts(schedule, time),
  }
}

/** @see EIP-7910; shared reference, "Azul and Denim RPC rules" */
export const config = ethMethod({
  name: 'eth_config',
  doc: 'Fork configs of the chain at the latest block, at the next planned fork and at the last planned fork (EIP-7910). Includes forks that this version cannot execute.',
  params: [],
  result: configResult,
  cost: 'point-read',
  example: { params: [] },
  run({ chain, forks, chainId }): Json {
    using view = chain.view()
    const now = view.header(view.heads.latest.hash)?.timestamp ?? forks.genesis.l2TimeSec
    const activations = forkActivations(forks)
    const passed = activations.filter((time) => time <= now)
    const [next, last] = [activations[passed.length], activations.at(-1)]
    const ahead = next !== undefined && last !== undefined
    return {
      current: configAt(forks, chainId, passed.at(-1) ?? 0),
      next: ahead ? configAt(forks, chainId, next) : null,
      last: ahead ? configAt(forks, chainId, last) : null,
    }
  },
})
