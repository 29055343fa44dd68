import { sharedRateLimit } from '#node/serving/rateLimits'
import type { PageListen } from '#node/serving/servers'
import { burstSec, readApiKeys } from './apiKeys.ts'
import { cliFault } from './faults.ts'
import { type FlagValues, flags } from './flags.ts'

export const limitFlags = ['rpc.rate-limit', 'rpc.rate-burst', 'rpc.api-keys', 'rpc.trusted-proxies'] as const
type Given = FlagValues<(typeof limitFlags)[number]>
type RateLimit = NonNullable<PageListen['rateLimit']>

/**
 * Returns the rate limits of the servers; undefined: none.
 * @throws Fault MISSING_FLAG, UNREADABLE_FILE, BAD_FLAG (fatal)
 */
export function rateLimitOf(given: Given): RateLimit | undefined {
  const unitsPerSec = given['rpc.rate-limit']
  if (unitsPerSec === undefined) {
    const idle = limitFlags.find((flag) => given[flag] !== undefined)
    if (idle === undefined) return undefined
    const { env, doc } = flags['rpc.rate-limit']
    throw cliFault('MISSING_FLAG', { flag: 'rpc.rate-limit', variable: env, doc: `${doc}; --${idle} needs it` })
  }
  const path = given['rpc.api-keys']
  return sharedRateLimit({
    rate: { unitsPerSec, burstUnits: given['rpc.rate-burst'] ?? unitsPerSec * burstSec },
    keys: path === undefined ? [] : readApiKeys(path),
    trustedProxies: given['rpc.trusted-proxies'] ?? [],
  })
}
