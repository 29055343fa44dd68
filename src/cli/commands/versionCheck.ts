import { endpointOf } from '#lib/endpoint'
import { failureReason, requestJson } from '#lib/jsonHttp'
import type { Io } from '../command.ts'
import { cliFault } from '../faults.ts'

const limits = { timeoutMs: 10_000, maxBodyBytes: 65_536 }
/** major, minor, patch; a pre-release comes before its version */
const form = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]{1,64})?$/

/** Returns whether version `a` is newer than `b`; undefined: one of them is no version. Pre-releases of one version count as equal. */
export function isNewer(a: string, b: string): boolean | undefined {
  const [left, right] = [form.exec(a), form.exec(b)]
  if (!left || !right) return undefined
  for (let i = 1; i <= 3; i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference > 0
  }
  return left[4] === undefined && right[4] !== undefined
}

/**
 * Fetches the newest version from a release index, JSON with `latest`.
 * @throws Fault RELEASE_INDEX_BAD (fatal)
 */
export async function fetchLatest({ clock, signal }: Pick<Io, 'clock' | 'signal'>, url: string): Promise<string> {
  const endpoint = endpointOf(new URL(url))
  const { name } = endpoint
  const answer = await requestJson({ fetch, clock }, limits, endpoint, signal)
  if (answer.kind !== 'answer') throw cliFault('RELEASE_INDEX_BAD', { name, reason: failureReason(answer) })
  const latest = (answer.json as { latest?: unknown } | null | undefined)?.latest
  if (answer.status >= 400) throw cliFault('RELEASE_INDEX_BAD', { name, reason: `HTTP ${answer.status}` })
  if (typeof latest !== 'string' || !form.test(latest))
    throw cliFault('RELEASE_INDEX_BAD', { name, reason: 'it has no version under latest' })
  return latest
}
