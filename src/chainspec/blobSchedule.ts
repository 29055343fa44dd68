import { z } from 'zod'
import { count, parseConfig } from './configJson.ts'
import { chainFault } from './faults.ts'

/** Blob limits per block and the rate of price changes. @see EIP-7840 */
export type BlobParams = { readonly target: number; readonly max: number; readonly updateFraction: bigint }

/** Blob parameters of an L1 over time. */
export type BlobSchedule = {
  /** Ascending by time; of several changes at the same time, the last applies. */
  readonly changes: readonly (BlobParams & { readonly fromSec: number })[]
  /** Time from which the blob base fee has a minimum (EIP-7918); undefined: never. */
  readonly osakaSec?: number
}

export const cancunBlobs: BlobParams = { target: 3, max: 6, updateFraction: 3_338_477n }
export const pragueBlobs: BlobParams = { target: 6, max: 9, updateFraction: 5_007_716n }
const bpo1 = { target: 10, max: 15, updateFraction: 8_346_193n }
const bpo2 = { target: 14, max: 21, updateFraction: 11_684_671n }

type Times = { readonly cancun: number; readonly prague: number; readonly osaka: number; readonly bpo1: number; readonly bpo2: number }

/** Creates the blob schedule of a public L1. Osaka itself kept Prague's parameters. */
const fusaka = (times: Times): BlobSchedule => ({
  changes: [
    { fromSec: times.cancun, ...cancunBlobs },
    { fromSec: times.prague, ...pragueBlobs },
    { fromSec: times.bpo1, ...bpo1 },
    { fromSec: times.bpo2, ...bpo2 },
  ],
  osakaSec: times.osaka,
})

/** Blob schedules of Ethereum mainnet, Sepolia and Hoodi, by chain id. @see EIP-7892, EIP-8134, EIP-8135 */
export const knownBlobSchedules: Readonly<Record<number, BlobSchedule>> = {
  1: fusaka({ cancun: 1_710_338_135, prague: 1_746_612_311, osaka: 1_764_798_551, bpo1: 1_765_290_071, bpo2: 1_767_747_671 }),
  11155111: fusaka({ cancun: 1_706_655_072, prague: 1_741_159_776, osaka: 1_760_427_360, bpo1: 1_761_017_184, bpo2: 1_761_607_008 }),
  560048: fusaka({ cancun: 0, prague: 1_742_999_832, osaka: 1_761_677_592, bpo1: 1_762_365_720, bpo2: 1_762_955_544 }),
}

/** Returns the blob parameters of an L1 block; undefined before Cancun. */
export function blobParamsIn({ changes }: BlobSchedule, timestamp: number): BlobParams | undefined {
  return changes.findLast(({ fromSec }) => timestamp >= fromSec)
}

const what = 'chain config of L1'
const params = z.looseObject({ target: count, max: z.int().positive(), baseFeeUpdateFraction: z.int().positive() })
const schema = z.looseObject({
  chainId: z.int().positive(),
  blobSchedule: z.record(z.string(), params.nullish()),
})

/** Order of forks with the same activation time; other forks follow in the order of the file. */
const order = ['cancun', 'prague', 'osaka', 'bpo1', 'bpo2', 'bpo3', 'bpo4', 'bpo5']
const rankOf = (fork: string): number => (order.indexOf(fork) + order.length + 1) % (order.length + 1)

/**
 * Parses the blob schedule in a chain config of L1, in the format of go-ethereum and op-node (`--rollup.l1-chain-config`), or in a genesis file that
 * contains one: `cancunTime`, `pragueTime`, `osakaTime`, `bpo1Time` and so on, and `blobSchedule` with the parameters of each fork. A fork without an
 * entry keeps the previous parameters.
 * @param chainId of L1, in the rollup config
 * @throws Fault INVALID_CONFIG (fatal) that names the key and the expected value
 */
export function parseBlobSchedule(json: unknown, chainId: number): BlobSchedule {
  const { value } = parseConfig(schema, configIn(json), what)
  const refuse = (key: string, expected: string, found: unknown): Error =>
    chainFault('INVALID_CONFIG', { what, key, expected, found: found === undefined ? 'missing' : JSON.stringify(found) })
  if (value.chainId !== chainId) throw refuse('chainId', `${chainId}, the chain id of L1 in the rollup config`, value.chainId)
  const timeOf = (fork: string): number | undefined => {
    const time = value[`${fork}Time`] ?? undefined
    if (time === undefined || count.safeParse(time).success) return time as number | undefined
    throw refuse(`${fork}Time`, 'seconds', time)
  }
  for (const fork of order) {
    const isMissing = fork !== 'osaka' && timeOf(fork) !== undefined && value.blobSchedule[fork] == null
    if (isMissing) throw refuse(`blobSchedule.${fork}`, `its parameters: ${fork}Time is given`, undefined)
  }
  const changes = Object.entries(value.blobSchedule).flatMap(([fork, entry]) => {
    const fromSec = timeOf(fork)
    if (fromSec === undefined || entry == null) return []
    const { target, max, baseFeeUpdateFraction } = entry
    return [{ fork, fromSec, target, max, updateFraction: BigInt(baseFeeUpdateFraction) }]
  })
  if (changes.length === 0) throw refuse('blobSchedule', 'parameters of a fork whose time is given', value.blobSchedule)
  changes.sort((a, b) => a.fromSec - b.fromSec || rankOf(a.fork) - rankOf(b.fork))
  const osakaSec = timeOf('osaka')
  return { changes: changes.map(({ fork: _, ...change }) => change), ...(osakaSec !== undefined && { osakaSec }) }
}

function configIn(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'config' in json ? json.config : json
}
