import { type Fork, type ForkSchedule, forks } from '#chainspec/forks'
import { anyJson } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import type { Method } from '../../registry.ts'
import { ethMethod } from '../define.ts'

/** Ethereum forks that every OP Stack chain has at genesis, by block. */
const atGenesis = [
  ...['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul', 'muirGlacier', 'berlin'],
  ...['london', 'arrowGlacier', 'grayGlacier', 'mergeNetsplit'],
]

/** Later Ethereum forks by the OP Stack fork that activates them. */
const carried: Readonly<Partial<Record<Fork, string>>> = { canyon: 'shanghai', ecotone: 'cancun', isthmus: 'prague', azul: 'osaka' }

function activations(schedule: ForkSchedule): readonly (readonly [string, Json])[] {
  return forks.slice(1).flatMap((fork) => {
    const time = schedule[fork]
    const ethereum = carried[fork]
    if (time === undefined) return []
    return [[`${fork}Time`, time] as const, ...(ethereum === undefined ? [] : [[`${ethereum}Time`, time] as const])]
  })
}

function configOf({ chainId, forks: { schedule }, fees: { params } }: EthContext): Json {
  return {
    chainId,
    ...Object.fromEntries(atGenesis.map((fork) => [`${fork}Block`, 0])),
    daoForkSupport: false,
    bedrockBlock: 0,
    terminalTotalDifficulty: 0,
    terminalTotalDifficultyPassed: true,
    ...Object.fromEntries(activations(schedule)),
    optimism: {
      eip1559Elasticity: params.elasticity,
      eip1559Denominator: params.denominator,
      eip1559DenominatorCanyon: params.denominatorCanyon,
    },
  }
}

const chainConfig = ethMethod({
  name: 'debug_chainConfig',
  doc: 'Config of the chain in the format of a genesis file: fork activations (block numbers and timestamps in seconds) and base-fee parameters.',
  params: [],
  result: anyJson('chain config', { type: 'object', required: ['chainId', 'optimism'], properties: { chainId: { type: 'integer' } } }),
  cost: 'instant',
  example: { params: [] },
  run: configOf,
})

const getBadBlocks = ethMethod({
  name: 'debug_getBadBlocks',
  doc: 'Invalid blocks. Always empty: this node keeps none, and logs the reason of each refusal.',
  params: [],
  result: anyJson('an empty list', { type: 'array', maxItems: 0 }),
  cost: 'instant',
  example: { params: [], result: [] },
  run: () => [],
})

export const chainMethods: readonly Method<EthContext>[] = [chainConfig, getBadBlocks]
