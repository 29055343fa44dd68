import { type Fork, type ForkSchedule, forks } from '#chainspec/forks'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import { ethMethod } from '../define.ts'
import { anyJson } from './anyJson.ts'

/** Ethereum's forks that are at genesis on every chain of the OP Stack, by block. */
const atGenesis = [
  ...['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul', 'muirGlacier', 'berlin'],
  ...['london', 'arrowGlacier', 'grayGlacier', 'mergeNetsplit'],
]

/** Ethereum's later forks, each active with one of these. */
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

export const chainConfig = ethMethod({
  name: 'debug_chainConfig',
  doc: 'The config of the chain in the form of a genesis file: which forks are active from when on (blocks, seconds), and its base-fee parameters.',
  params: [],
  result: anyJson('chain config', { type: 'object', required: ['chainId', 'optimism'], properties: { chainId: { type: 'integer' } } }),
  cost: 'instant',
  example: { params: [] },
  run: configOf,
})

export const getBadBlocks = ethMethod({
  name: 'debug_getBadBlocks',
  doc: 'Blocks that were found invalid. None is kept: the log tells why a block was refused.',
  params: [],
  result: anyJson('an empty list', { type: 'array', maxItems: 0 }),
  cost: 'instant',
  example: { params: [], result: [] },
  run: () => [],
})
