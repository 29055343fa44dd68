import { z } from 'zod'
import { type BlobParams, type BlobSchedule, blobParamsIn, cancunBlobs, pragueBlobs } from './blobSchedule.ts'
import { count } from './configJson.ts'

/** Fork in a response to `eth_config`; without `params`, it has no blobs. */
type ReportedFork = { readonly fromSec: number; readonly params?: BlobParams }

/** Blob parameters in a response to `eth_config`; forks between `next` and `last` are not part of it. */
export type ReportedBlobs = { readonly current: ReportedFork; readonly next?: ReportedFork; readonly last?: ReportedFork }

/** Time from which a reported schedule differs from the schedule in use. */
export type BlobDifference = {
  readonly atSec: number
  readonly reported: BlobParams
  /** Several when headers decide between them; empty: none before the first fork with blobs. */
  readonly inUse: readonly BlobParams[]
}

/** Zeros mean no blobs. */
const blobs = z
  .looseObject({ target: count, max: count, baseFeeUpdateFraction: count })
  .nullish()
  .transform((given): BlobParams | undefined => {
    if (!given?.max) return undefined
    return { target: given.target, max: given.max, updateFraction: BigInt(given.baseFeeUpdateFraction) }
  })
const fork = z
  .looseObject({ activationTime: count, blobSchedule: blobs, chainId: z.string().max(80) })
  .transform(({ activationTime, blobSchedule, chainId }) => {
    return { fromSec: activationTime, chainId: Number(chainId), ...(blobSchedule && { params: blobSchedule }) }
  })
const config = z.looseObject({ current: fork, next: fork.nullish(), last: fork.nullish() })

/**
 * Parses the blob parameters in the result of `eth_config`.
 * @param chainId of L1
 * @returns undefined when the result is malformed, of another chain, or its forks are not in order
 * @see EIP-7910
 */
export function parseReportedBlobs(json: unknown, chainId: number): ReportedBlobs | undefined {
  const parsed = config.safeParse(json)
  if (!parsed.success) return undefined
  const { current, next, last } = parsed.data
  const given = [current, next, last].filter((one) => one != null)
  const isOrdered = given.every(({ fromSec }, i) => fromSec >= (given[i - 1]?.fromSec ?? 0))
  if (!isOrdered || given.some((one) => one.chainId !== chainId)) return undefined
  return { current, ...(next && { next }), ...(last && { last }) }
}

const areEqual = (a: BlobParams, b: BlobParams): boolean =>
  a.target === b.target && a.max === b.max && a.updateFraction === b.updateFraction

/**
 * Returns the earliest time at which a reported schedule differs from the schedule in use; undefined when they agree. It compares the parameters at
 * the reported activations, and at each change in use before the next reported one. Forks that are reported without blobs are ignored.
 * @param schedule in use; undefined: headers decide between Cancun's and Prague's parameters
 */
export function blobDifference(schedule: BlobSchedule | undefined, { current, next, last }: ReportedBlobs): BlobDifference | undefined {
  const endSec = (next ?? last)?.fromSec ?? Number.POSITIVE_INFINITY
  const ownChanges = (schedule?.changes ?? []).filter(({ fromSec }) => fromSec > current.fromSec && fromSec < endSec)
  const reports: readonly ReportedFork[] = [
    current,
    ...ownChanges.map(({ fromSec }) => ({ ...current, fromSec })),
    ...[next, last].filter((one) => one !== undefined),
  ]
  for (const { fromSec, params } of reports) {
    if (params === undefined) continue
    const known = schedule && blobParamsIn(schedule, fromSec)
    const inUse = schedule ? (known ? [known] : []) : [cancunBlobs, pragueBlobs]
    if (!inUse.some((one) => areEqual(one, params))) return { atSec: fromSec, reported: params, inUse }
  }
  return undefined
}
