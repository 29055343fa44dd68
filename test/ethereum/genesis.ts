import { z } from 'zod'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import type { BlobParams } from '#chainspec/blobSchedule'
import { address, count, optionalCount, parseConfig, quantity } from '#chainspec/configJson'
import { chainFault } from '#chainspec/faults'
import type { Genesis } from '#chainspec/genesis'
import { allocSchema, headerFields, headerShape } from '#chainspec/genesisJson'
import { genesisState } from '#state/genesisState'
import { type Header, hashHeader } from '#types/header'
import { emptyOmmersHash, emptyRequestsHash, emptyRoot, type Hash, zeroAddress, zeroHash } from '#types/ids'
import { bloomBytes } from '#types/log'
import {
  baseScheduleOf,
  blobParamsAt,
  type EthereumBlockFork,
  type EthereumSchedule,
  type EthereumTimeFork,
  ethereumTimeForks,
  followsEthereum,
} from './schedule.ts'

const what = 'genesis'

/** Genesis keys of forks that start at a block, with the schedule entries they set. A key without entries counts in the fork id only. */
const blockKeys = {
  homesteadBlock: ['homestead'],
  daoForkBlock: [],
  eip150Block: ['tangerineWhistle'],
  eip155Block: ['spuriousDragon'],
  eip158Block: ['spuriousDragon'],
  byzantiumBlock: ['byzantium'],
  constantinopleBlock: ['constantinople'],
  petersburgBlock: ['petersburg'],
  istanbulBlock: ['istanbul'],
  muirGlacierBlock: [],
  berlinBlock: ['berlin'],
  londonBlock: ['london'],
  arrowGlacierBlock: [],
  grayGlacierBlock: [],
  mergeNetsplitBlock: ['paris'],
} as const satisfies Readonly<Record<string, readonly EthereumBlockFork[]>>

const keysOf = <K extends string, T extends z.ZodType>(keys: readonly K[], value: T): Record<K, T> =>
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, T>

const blobParams = z
  .strictObject({ target: count, max: count, baseFeeUpdateFraction: z.int().positive() })
  .transform(({ target, max, baseFeeUpdateFraction }): BlobParams => ({ target, max, updateFraction: BigInt(baseFeeUpdateFraction) }))

const configSchema = z.strictObject({
  chainId: z.int().positive(),
  ...keysOf(Object.keys(blockKeys) as (keyof typeof blockKeys)[], optionalCount),
  ...keysOf(
    ethereumTimeForks.map((fork) => `${fork}Time` as const),
    optionalCount,
  ),
  terminalTotalDifficulty: quantity.nullish(),
  terminalTotalDifficultyPassed: z.boolean().optional(),
  depositContractAddress: address.optional(),
  ethash: z.strictObject({}).optional(),
  blobSchedule: z.partialRecord(z.enum(ethereumTimeForks), blobParams).optional(),
})

const genesisSchema = z.strictObject({ ...headerShape, config: configSchema, alloc: allocSchema })

function blocksOf(config: z.output<typeof configSchema>): Pick<EthereumSchedule, 'blocks' | 'forkIdBlocks'> {
  const blocks: Partial<Record<EthereumBlockFork, number>> = {}
  const numbers = new Set<number>()
  for (const [key, forks] of Object.entries(blockKeys) as [keyof typeof blockKeys, readonly EthereumBlockFork[]][]) {
    const number = config[key]
    if (number == null) continue
    if (number > 0) numbers.add(number)
    for (const fork of forks) {
      if (blocks[fork] !== undefined && blocks[fork] !== number) {
        throw chainFault('INVALID_CONFIG', {
          what,
          key: `config.${key}`,
          expected: `${blocks[fork]}, as eip155Block`,
          found: String(number),
        })
      }
      blocks[fork] = number
    }
  }
  return { blocks, forkIdBlocks: [...numbers].sort((a, b) => a - b) }
}

function timesOf(config: z.output<typeof configSchema>): Partial<Record<EthereumTimeFork, number>> {
  const times: Partial<Record<EthereumTimeFork, number>> = {}
  for (const fork of ethereumTimeForks) {
    const time = config[`${fork}Time`]
    if (time != null) times[fork] = time
  }
  return times
}

/** A chain with Ethereum's own rules. */
export type EthereumChainSpec = {
  readonly schedule: EthereumSchedule
  readonly genesis: ExecutedBlock
  /** For the modules that read the chain and run calls on it; see `baseScheduleOf`. */
  readonly config: ExecutionConfig
}

/**
 * Parses geth's genesis.json of a chain with Ethereum's own rules. The merge is at `mergeNetsplitBlock`; without that key the chain has no merge.
 * @throws Fault INVALID_CONFIG (fatal) that names the key and the expected value
 */
export function parseEthereumGenesis(json: unknown): EthereumChainSpec {
  const { value } = parseConfig(genesisSchema, json, what)
  const { config, alloc, ...header } = value
  const schedule: EthereumSchedule = {
    ...blocksOf(config),
    times: timesOf(config),
    blobs: config.blobSchedule ?? {},
    depositContract: config.depositContractAddress ?? zeroAddress,
  }
  const genesis = genesisBlockOf(schedule, { header: headerFields(header), accounts: alloc })
  return {
    schedule,
    genesis,
    config: {
      schedule: baseScheduleOf(schedule),
      eip1559: { elasticity: 2, denominator: 8, denominatorCanyon: 8 },
      l2ChainId: config.chainId,
      genesis: { l1: { number: 0, hash: zeroHash }, l2: { number: genesis.header.number, hash: genesis.hash } },
    },
  }
}

/** Returns the genesis block in the form of an executed block. Its state diff is the whole genesis allocation. */
function genesisBlockOf(schedule: EthereumSchedule, genesis: Genesis): ExecutedBlock {
  const { diff, result } = genesisState(genesis.accounts)
  const header = genesisHeaderOf(schedule, genesis, result.root)
  return { header, hash: hashHeader(header), transactions: [], executed: [], diff, trie: result }
}

/** Builds the genesis header; a field of a later fork is present when the fork is active at genesis. */
function genesisHeaderOf(schedule: EthereumSchedule, { header }: Genesis, stateRoot: Hash): Header {
  const { baseFeePerGas, blobGasUsed = 0n, excessBlobGas = 0n, ...given } = header
  const has = (fork: 'london' | 'shanghai' | 'prague'): boolean => followsEthereum(schedule, fork, header)
  return {
    ...given,
    ommersHash: emptyOmmersHash,
    stateRoot,
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(bloomBytes),
    ...(has('london') && { baseFeePerGas }),
    ...(has('shanghai') && { withdrawalsRoot: emptyRoot }),
    ...(blobParamsAt(schedule, header.timestamp) && { blobGasUsed, excessBlobGas, parentBeaconBlockRoot: zeroHash }),
    ...(has('prague') && { requestsHash: emptyRequestsHash }),
  }
}
